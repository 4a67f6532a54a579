/** An empty project that installs the tarballs as anybody would: what is compiled and run there, on this Node and on others, and what npm installs. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { closureOf, type Tarball } from './pack.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/.bin/tsc');
const STRICT = ['--strict', '--target', 'ES2022', '--module', 'NodeNext', '--lib', 'ES2022,DOM'];

/** `folder` is empty, and gone afterwards; the project is a folder in it. */
export async function inConsumer(
  pack: (folder: string) => readonly Tarball[],
  use: (project: string, folder: string, tarballs: readonly Tarball[]) => Promise<void> | void,
): Promise<void> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'basa-consumer-'));
  try {
    const project = join(folder, 'project');
    fs.mkdirSync(project);
    const tarballs = pack(folder);
    setUpConsumer(project, tarballs);
    await use(project, folder, tarballs);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Installs into `project` and compiles. No source condition here: the published declarations must be complete. */
function setUpConsumer(project: string, tarballs: readonly Tarball[]): void {
  install(project, tarballs);
  fs.copyFileSync(fileURLToPath(new URL('consumer-services.mjs', import.meta.url)), join(project, 'services.mjs'));
  fs.copyFileSync(fileURLToPath(new URL('consumer-program.ts', import.meta.url)), join(project, 'program.ts'));
  execFileSync(tsc, ['program.ts', ...STRICT, '--types', ''], { cwd: project, stdio: 'inherit' });
  const [sdk] = snippetsOf(fs.readFileSync(join(root, 'README.md'), 'utf8'));
  if (sdk === undefined) throw new Error('README.md shows no program');
  fs.writeFileSync(join(project, 'readme.ts'), sdk.code);
  // Of Node the snippet uses only `process`; its types come from here, not from the project.
  const typesOfNode = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  execFileSync(tsc, ['readme.ts', ...STRICT, ...typesOfNode], { cwd: project, stdio: 'inherit' });
}

/** Runs everything with this Node, and gives what the program of the README printed. */
export function runConsumer(project: string, node: string): string {
  execFileSync(node, ['program.js'], { cwd: project, stdio: 'inherit' });
  execFileSync(node, ['node_modules/@basa/cli/dist/main.js', '--help'], { cwd: project, stdio: 'ignore' });
  return execFileSync(node, ['services.mjs'], { cwd: project, encoding: 'utf8' });
}

/** As a person does it: the tarballs in one line. */
function install(project: string, tarballs: readonly Tarball[]): void {
  fs.writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs.map(({ file }) => file)];
  execFileSync('npm', words, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Names of all packages, ours and others', and their bytes. */
export function installedIn(project: string): { readonly names: readonly string[]; readonly bytes: number } {
  const lock = JSON.parse(fs.readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: object;
  };
  const names = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''));
  const files = fs.readdirSync(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(join(entry.parentPath, entry.name)).size, 0);
  return { names, bytes };
}

/** Names that a device has no use for: databases and what serves HTTP. */
const NOT_FOR_DEVICES = /sqlite|^pg|fastify|prom-client|opentelemetry|@basa\/(server|service|authority|cli)$/;

/** Only the client, in a project of its own; both of its entries load there. */
export function tryClient(tarballs: readonly Tarball[], folder: string): ReturnType<typeof installedIn> {
  const project = join(folder, 'client-alone');
  fs.mkdirSync(project);
  install(project, closureOf('@basa/client', tarballs));
  const program = "await import('@basa/client/node'); await import('@basa/client/web'); await import('@basa/learning')";
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project, stdio: 'inherit' });
  const found = installedIn(project);
  const wrong = found.names.filter((name) => NOT_FOR_DEVICES.test(name));
  if (wrong.length > 0) throw new Error(`@basa/client brings ${wrong.join(', ')} along`);
  return found;
}

/** The path of the newest Node of this major version, from the registry package that holds its binary; `folder` is empty. */
export function fetchNode(major: number, folder: string): string {
  const spec = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@${major}`;
  const pack = ['pack', spec, '--silent', '--pack-destination', folder];
  const file = execFileSync('npm', pack, { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
  execFileSync('tar', ['-xzf', file], { cwd: folder });
  return join(folder, 'package/bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** Runs the project on the newest Node of each major version; `folder` holds their binaries. */
export function runOnNodes(project: string, folder: string, majors: readonly number[] = [20, 22, 24, 26]): void {
  for (const major of majors) {
    const place = join(folder, `node-${major}`);
    fs.mkdirSync(place);
    const node = fetchNode(major, place);
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    console.log(`Node ${version}:\n${runConsumer(project, node)}`);
  }
}
