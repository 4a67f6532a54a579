/** Sizes of the packages: packed, and as a browser downloads them. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { KEM_KEY_BYTES, KEM_SECRET_BYTES } from '@basa/masking';
import { OneShotRules, type Sealing } from '@basa/protocol/policy';
import { FOR_BROWSERS, loadedAtOnce } from '@basa/testkit/browser/bundle-pages.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { build } from 'esbuild';
import { markdownPage, markdownTable } from '../reference/markdown.ts';
import type { Tarball } from './pack.ts';

/** Entries that browsers load, and the most kB of each that may load with the page, compressed. */
const LIMITS = JSON.parse(readFileSync(new URL('size-limits.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, number>
>;

export interface BrowserSize {
  readonly entry: string;
  /** In kB, minified, before compression. */
  readonly minified: number;
  /** In kB, compressed, and loaded with the entry. */
  readonly atOnce: number;
  /** In kB, compressed, and loaded by dynamic imports only. */
  readonly onDemand: number;
}

/** The packages must have been built. */
export function browserSizes(): Promise<readonly BrowserSize[]> {
  return Promise.all(Object.keys(LIMITS).map(browserSize));
}

/** Entries that load more than their limit, as sentences. */
export function outgrown(sizes: readonly BrowserSize[]): readonly string[] {
  return sizes
    .filter(({ entry, atOnce }) => atOnce > (LIMITS[entry] ?? 0))
    .map(
      ({ entry, atOnce }) =>
        `${entry} loads ${atOnce} kB at once; its limit is ${LIMITS[entry]} kB. If it has to grow, raise the limit in scripts/packages/size-limits.json`,
    );
}

export function sizesPage(tarballs: readonly Tarball[], sizes: readonly BrowserSize[]): string {
  return markdownPage(
    '# Sizes of the packages',
    'In kB (1000 bytes). `npm run lab -- bench protocols` counts the bytes that a user sends.',
    '## Packed',
    'Without dependencies.',
    markdownTable(
      ['package', 'tarball', 'unpacked'],
      tarballs.map(({ name, bytes, unpackedBytes }) => [`\`${name}\``, `${kB(bytes)}`, `${kB(unpackedBytes)}`]),
    ),
    '## In a browser',
    'Everything that an entry exports, bundled and minified with its dependencies by esbuild. *At once* is compressed by gzip and loads with the entry. *On demand* is loaded by a dynamic import: the cryptography of a device, ML-KEM only for tasks that seal with it, and the pairing library only for tasks with CP-ABE. An application that uses a part of an entry loads less.',
    markdownTable(
      ['entry', 'minified', 'at once', 'limit', 'on demand'],
      sizes.map(({ entry, minified, atOnce, onDemand }) => [
        `\`${entry}\``,
        `${minified}`,
        `${atOnce}`,
        `${LIMITS[entry]}`,
        `${onDemand}`,
      ]),
    ),
    '## Keys and sealed seeds of the one-shot mode',
    'In bytes. The statement of an authority carries its public keys, an upload carries sealed seeds. `npm run lab -- bench sealing` measures the time that they take.',
    markdownTable(
      ['sealing', 'public keys', 'expanded secrets', 'sealed seeds, one authority', 'sealed seeds, 3 of 4'],
      OneShotRules.SEALINGS.map((sealing) => [`\`${sealing}\``, ...sealedSizes(sealing).map(String)]),
    ),
  );
}

/** Of the keys of one authority, of one part with one holder, and of four parts with three holders each. */
function sealedSizes(sealing: Sealing): readonly number[] {
  const [key, secret] = OneShotRules.isHybrid(sealing) ? [KEM_KEY_BYTES, KEM_SECRET_BYTES] : [0, 0];
  return [
    32 + key,
    32 + secret,
    OneShotRules.sealedPartBytes(sealing, 1),
    4 * OneShotRules.sealedPartBytes(sealing, 3),
  ];
}

const kB = (bytes: number): number => Math.round(bytes / 100) / 10;

async function browserSize(entry: string): Promise<BrowserSize> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: ROOT, sourcefile: 'entry.js' },
    outdir: 'bundle',
    absWorkingDir: ROOT,
    ...FOR_BROWSERS,
    external: ['@tensorflow/*'],
    write: false,
  });
  const [start = ''] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'entry.js') ?? [];
  const loaded = loadedAtOnce(metafile.outputs, start);
  const isAtOnce = ({ path }: { readonly path: string }): boolean => loaded.includes(relative(ROOT, path));
  const first = outputFiles.filter(isAtOnce);
  const later = outputFiles.filter((file) => !isAtOnce(file));
  return {
    entry,
    minified: kB(sum(first.map(({ contents }) => contents.length))),
    atOnce: kB(sum(first.map(({ contents }) => gzipSync(contents).length))),
    onDemand: kB(sum(later.map(({ contents }) => gzipSync(contents).length))),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
