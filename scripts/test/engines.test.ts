/** npm warns about packages that do not support the Node in use: on our oldest Node it has no reason to. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

interface Locked {
  readonly optional?: true;
  readonly engines?: { readonly node?: string };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const lock = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
/** `>=20.19` of package.json. */
const OLDEST = numbersOf(lock.packages['']?.engines?.node ?? '');

function numbersOf(version: string): readonly number[] {
  return (version.match(/\d+/g) ?? []).map(Number);
}

/** Compares as many numbers as `version` has. */
function isAtLeast(node: readonly number[], version: readonly number[]): boolean {
  const at = version.findIndex((number, n) => number !== (node[n] ?? 0));
  return at < 0 || (node[at] ?? 0) > (version[at] ?? 0);
}

/** `>=18`, `^20.19.0 || >=22`, `20 || >=22`. */
function supports(range: string, node: readonly number[]): boolean {
  return range.split('||').some((part) => {
    const version = numbersOf(part);
    return isAtLeast(node, version) && (part.includes('>=') || version[0] === node[0]);
  });
}

it('reads ranges as npm does', () => {
  const [fine, wrong] = [
    ['>=18', '>= 20.19.0', '^20.19.0 || >=22.12.0', '20 || >=22', '^18.19.0 || >=20.6.0'],
    ['>=22', '^22.20 || ^24.12 || >=25', '>=20.20', '^18'],
  ];
  expect(OLDEST).toEqual([20, 19]);
  expect(fine.filter((range) => !supports(range, OLDEST))).toEqual([]);
  expect(wrong.filter((range) => supports(range, OLDEST))).toEqual([]);
});

it('every required package of the lockfile supports our oldest Node', () => {
  const unsupported = Object.entries(lock.packages).filter(
    ([, { optional, engines }]) => optional !== true && engines?.node !== undefined && !supports(engines.node, OLDEST),
  );
  expect(unsupported.map(([path]) => path)).toEqual([]);
});
