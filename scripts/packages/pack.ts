/** Packs every package as it is published: what was built, its README, the licence and its published package.json. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Manifest, publishedManifest } from './published-manifest.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Tarball {
  readonly name: string;
  /** Its path. */
  readonly file: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly manifest: Manifest;
  /** Paths below the package. */
  readonly files: readonly string[];
}

/** The packages must have been built. Tarballs come to lie in `destination`. */
export function packPackages(destination: string): readonly Tarball[] {
  const copies = mkdtempSync(join(tmpdir(), 'basa-pack-'));
  try {
    const repository = repositoryAddress();
    const manifests = readdirSync(join(root, 'packages')).map((name) =>
      copyPackage(name, join(copies, name), repository),
    );
    const folders = readdirSync(copies).map((name) => `./${name}`);
    const options = ['pack', '--json', '--loglevel=error', '--pack-destination', destination];
    const answer = execFileSync('npm', [...options, ...folders], { cwd: copies, encoding: 'utf8' });
    return packedOf(JSON.parse(answer)).map(({ name, filename, size, unpackedSize, files }) => ({
      name,
      file: join(destination, filename),
      bytes: size,
      unpackedBytes: unpackedSize,
      manifest: manifests.find((manifest) => manifest.name === name) as Manifest,
      files: files.map(({ path }) => path),
    }));
  } finally {
    rmSync(copies, { recursive: true });
  }
}

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** npm 10 answers with a list, npm 11 and later may answer with an object by name. */
function packedOf(answer: unknown): readonly Packed[] {
  return (Array.isArray(answer) ? answer : Object.values(answer as object)) as Packed[];
}

/** The address from which this repository was cloned, under which its owner publishes. */
export function repositoryAddress(): string | undefined {
  const { stdout } = spawnSync('git', ['config', '--get', 'remote.origin.url'], { cwd: root, encoding: 'utf8' });
  return /^(https?:\/\/|ssh:\/\/|git@)/.test(stdout) ? stdout.trim() : undefined;
}

function copyPackage(name: string, folder: string, repository: string | undefined): Manifest {
  const source = join(root, 'packages', name);
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest;
  const published = publishedManifest(manifest, `packages/${name}`, repository);
  mkdirSync(folder);
  for (const part of ['dist', 'templates'])
    if (existsSync(join(source, part))) cpSync(join(source, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  for (const file of [join(source, 'README.md'), join(root, 'LICENSE')])
    if (existsSync(file)) copyFileSync(file, join(folder, file.endsWith('LICENSE') ? 'LICENSE' : 'README.md'));
  return published;
}

/** The package of this name, and all of ours that it needs, itself or through others; in the order of `all`. */
export function closureOf<Each extends Pick<Tarball, 'name'> & { readonly manifest: Pick<Manifest, 'dependencies'> }>(
  name: string,
  all: readonly Each[],
): readonly Each[] {
  const needed = new Set<string>();
  const add = (each: string): void => {
    const found = all.find((one) => one.name === each);
    if (found === undefined || needed.has(each)) return;
    needed.add(each);
    for (const other of Object.keys(found.manifest.dependencies ?? {})) add(other);
  };
  add(name);
  return all.filter((each) => needed.has(each.name));
}
