/** The handwriting fonts behind the stand-in for FEMNIST: npm packages @fontsource/*, licensed OFL-1.1 or Apache-2.0. */
import { type Cache, loadCached } from '@basa/cli/internal/data/cache.ts';
import { fetchPackages } from '@basa/cli/internal/data/registry.ts';
import { Font } from './truetype.ts';

const VERSION = '5.3.0';
const TARBALL_BYTES = 6_486_207;

const NAMES = `
  annie-use-your-telescope architects-daughter bad-script caveat caveat-brush cedarville-cursive coming-soon
  cookie courgette crafty-girls dancing-script dawning-of-a-new-day delicious-handrawn delius give-you-glory
  gloria-hallelujah gochi-hand grape-nuts handlee homemade-apple indie-flower itim just-another-hand kalam
  kristi la-belle-aurore loved-by-the-king mansalva marck-script neucha nothing-you-could-do over-the-rainbow
  pangolin patrick-hand rancho reenie-beanie satisfy schoolbell sedgwick-ave shadows-into-light short-stack
  sriracha sue-ellen-francisco swanky-and-moo-moo the-girl-next-door vibur waiting-for-the-sunrise zeyada
`
  .trim()
  .split(/\s+/);

/** All fonts in one file: for each its length in four bytes, little-endian, then the WOFF. */
const FILE = { name: 'handwriting-fonts', sha256: 'b827e39cbe333047d782f5e7b95cb82b7ad94e712df321245d7ab76574c62a7f' };

export async function loadHandwritingFonts(cache: Cache): Promise<readonly Font[]> {
  const [bytes = new Uint8Array()] = await loadCached(cache, [FILE], async () => {
    const wanted = NAMES.map((name) => ({ name: `@fontsource/${name}`, version: VERSION }));
    const packages = await fetchPackages(wanted, TARBALL_BYTES, cache);
    const files = NAMES.map((name, n) => packages[n]?.get(`files/${name}-latin-400-normal.woff`) ?? new Uint8Array());
    return new Map([[FILE.name, Buffer.concat(files.flatMap((file) => [lengthOf(file), file]))]]);
  });
  const fonts: Font[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint32(at, true);
    fonts.push(new Font(bytes.subarray(at + 4, at + 4 + length), NAMES[fonts.length] ?? ''));
    at += 4 + length;
  }
  return fonts;
}

function lengthOf(file: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(file.length);
  return length;
}
