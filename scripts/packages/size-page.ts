/** docs/sizes.md: how large each package is, packed, unpacked and in a browser. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { browserSize } from './browser-size.ts';
import { installedIn, tryClient } from './installed.ts';
import type { Tarball } from './pack.ts';

const PAGE = fileURLToPath(new URL('../../docs/sizes.md', import.meta.url));
/** What browsers can load. */
const BROWSER_ENTRIES: readonly string[] = [
  '@basa/abe',
  '@basa/abe/noble',
  '@basa/baselines',
  '@basa/client/operator',
  '@basa/client/web',
  '@basa/learning',
  '@basa/learning/files',
  '@basa/learning/tfjs',
  '@basa/masking',
  '@basa/protocol',
  '@basa/runtime/web',
  '@basa/simulator',
];
/** Sizes may leave the page by a quarter, or by a little, before somebody has to look. */
const SLACK = 0.25;
const SLACK_KB = 1;

type Rows = ReadonlyMap<string, readonly number[]>;

/** `project` has the packages installed. */
export async function writeSizes(project: string, tarballs: readonly Tarball[]): Promise<void> {
  const { packages, entries } = await measure(project, tarballs);
  const page = `# Sizes of the packages

In kB (1000 bytes). Written by \`npm run write -- sizes\`; \`npm run gate -- packages\` fails where a size left this page by more than a
quarter. \`npm run lab -- bench messages\` counts what a user sends.

## Packed

Dependencies are not counted.

${table(['package', 'tarball', 'unpacked'], packages)}

## Installed

What \`npm install\` brings along, dependencies included: for a device alone, and for the command \`basa\` with both services. In MB.

${installedTable(project, tarballs)}

## In a browser

Everything an entry exports, bundled and minified with its dependencies by esbuild. *At once* is compressed by gzip and loads with the
entry; *on demand* as well, when a dynamic import asks for it; *for CP-ABE* is the part of that which holds the pairing library: a task
with slot keys never loads it. An application that uses a part loads less: see [the web pages](web.md).

${table(['entry', 'minified', 'at once', 'on demand', 'for CP-ABE'], entries)}
`;
  writeFileSync(PAGE, page);
}

/** Of this machine: other platforms bring other programs along. */
function installedTable(project: string, tarballs: readonly Tarball[]): string {
  const rows = [
    ['`@basa/client`', tryClient(tarballs)],
    ['all packages', installedIn(project)],
  ] as const;
  const lines = rows.map(([name, { names, bytes }]) => `| ${name} | ${names.length} | ${(bytes / 1e6).toFixed(1)} |`);
  return ['| what | packages | MB |', '|---|---:|---:|', ...lines].join('\n');
}

/** What no longer fits the page, as sentences. */
export async function outgrownSizes(project: string, tarballs: readonly Tarball[]): Promise<readonly string[]> {
  const { packages, entries } = await measure(project, tarballs);
  const page = readFileSync(PAGE, 'utf8');
  const [packed = '', , inBrowsers = ''] = page.split(/## (?:Installed|In a browser)/);
  return [...differences(readTable(packed), packages), ...differences(readTable(inBrowsers), entries)];
}

async function measure(project: string, tarballs: readonly Tarball[]): Promise<{ packages: Rows; entries: Rows }> {
  const packages = new Map(tarballs.map(({ name, bytes, unpackedBytes }) => [name, [bytes, unpackedBytes].map(kB)]));
  const entries = await Promise.all(
    BROWSER_ENTRIES.map(async (entry) => {
      const { minified, gzipped, onDemand, pairings } = await browserSize(entry, project);
      return [entry, [minified, gzipped, onDemand, pairings].map(kB)] as const;
    }),
  );
  return { packages, entries: new Map(entries) };
}

const kB = (bytes: number): number => Math.round(bytes / 100) / 10;

function differences(page: Rows, now: Rows): readonly string[] {
  const differ = (a = Number.NaN, b = Number.NaN): boolean => !(Math.abs(a - b) <= Math.max(SLACK * a, SLACK_KB));
  return [...new Set([...page.keys(), ...now.keys()])]
    .filter((name) =>
      (now.get(name) ?? page.get(name) ?? []).some((_, n) => differ(page.get(name)?.[n], now.get(name)?.[n])),
    )
    .map(
      (name) =>
        `${name} has ${now.get(name)?.join(', ')} kB, docs/sizes.md says ${page.get(name)?.join(', ')}; else: npm run write -- sizes`,
    );
}

function table(titles: readonly string[], rows: Rows): string {
  const lines = [...rows].map(
    ([name, sizes]) => `| \`${name}\` | ${sizes.map((size) => size.toFixed(1)).join(' | ')} |`,
  );
  return [`| ${titles.join(' | ')} |`, `|---|${'---:|'.repeat(titles.length - 1)}`, ...lines].join('\n');
}

function readTable(text: string): Rows {
  const rows = [...text.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)];
  return new Map(rows.map(([, name = '', cells = '']) => [name, cells.split(' | ').map(Number)]));
}
