/**
 * `npm run gate -- image`: builds the image of deploy/Dockerfile and starts both services from it, as an ordinary user on a read-only root. It needs
 * buildah, podman and runc; if the base image cannot be pulled, it is made of Debian's packages with debootstrap, and of the registry's Node;
 * if the image of the last stage cannot be pulled, it is made of that Node and the libraries that it loads.
 */
import '@basa/testkit/programs/help.ts';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '@basa/testkit/root.ts';
import { fetchNode } from './packages/consumer.ts';

const NODE = 24;
const BASE = `docker.io/library/node:${NODE}-bookworm-slim`;
const OWN_BASE = `localhost/basa-base:node${NODE}`;
const RUNTIME = `gcr.io/distroless/nodejs${NODE}-debian12:nonroot`;
const OWN_RUNTIME = `localhost/basa-runtime:node${NODE}`;
const IMAGE = 'localhost/basa:gate';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const PORT = 17_801;
const LOOKS = 100;
/** A key and a token hash of nobody: they protect nothing. */
const NOBODY = '0'.repeat(64);

/** Prints the user, the error of a write, and that of a shell. */
const LOOK_INSIDE = `
  const code = (work) => { try { return work() ?? 'done'; } catch (error) { return error.code; } };
  const written = code(() => require('node:fs').writeFileSync('/basa/x', ''));
  const shell = code(() => require('node:child_process').execFileSync('sh', ['-c', 'true']).length);
  console.log(process.getuid(), written, shell);
`;

const missing = ['buildah', 'podman', 'runc'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
if (missing.length > 0) {
  console.log(
    `No image was built: ${missing.join(', ')} is not installed. deploy/Dockerfile was only read, by test/deploy.test.ts.`,
  );
} else {
  const base = canPull(BASE) ? BASE : ownBase();
  if (base === undefined) {
    console.log(
      `No image was built: ${BASE} cannot be pulled, and debootstrap is not installed to make a base of Debian packages.`,
    );
  } else {
    const runtime = canPull(RUNTIME) ? RUNTIME : ownRuntime(base);
    const bases = ['--build-arg', `BASE=${base}`, '--build-arg', `RUNTIME=${runtime}`];
    buildah('--network', 'host', ...bases, '-f', 'deploy/Dockerfile', '-t', IMAGE, '.');
    await tryImage();
    console.log(
      `the image of deploy/Dockerfile on ${base} and ${runtime} was built; both services started from it, as user 1000 on a read-only root without a shell`,
    );
  }
}

function buildah(...options: readonly string[]): void {
  execFileSync('buildah', ['build', '--isolation', 'chroot', ...options], { cwd: ROOT, stdio: 'inherit' });
}

function canPull(image: string): boolean {
  return spawnSync('podman', ['pull', '--quiet', image], { stdio: 'ignore' }).status === 0;
}

/** The certificates that this machine trusts come along: it may reach the registry by a proxy of its own. */
function ownBase(): string | undefined {
  if (spawnSync('podman', ['image', 'exists', OWN_BASE]).status === 0) return OWN_BASE;
  if (spawnSync('debootstrap', ['--version']).error !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'basa-base-'));
  const root = join(folder, 'root');
  try {
    const packages = '--include=ca-certificates,libstdc++6';
    execFileSync('debootstrap', ['--variant=minbase', packages, 'bookworm', root], { stdio: 'ignore' });
    mkdirSync(join(folder, 'node'));
    cpSync(fetchNode(NODE, join(folder, 'node')), join(root, 'usr/local/bin/node'));
    const npm = join(root, 'usr/local/lib/node_modules/npm');
    const file = execFileSync('npm', ['pack', 'npm@11', '--silent'], { cwd: folder, encoding: 'utf8' }).trim();
    mkdirSync(npm, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, file), '--strip-components=1', '-C', npm]);
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
    if (existsSync(CERTIFICATES)) cpSync(CERTIFICATES, join(root, CERTIFICATES));
    execFileSync('chroot', [root, 'useradd', '-u', '1000', '-m', 'node']);
    const trust = `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`;
    execFileSync('sh', ['-c', `tar -C "$1" -c . | podman import --change "$2" - "$3"`, 'sh', root, trust, OWN_BASE]);
    return OWN_BASE;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As the distroless image: Node, its libraries, certificates, and no other program. */
function ownRuntime(base: string): string {
  const copies = [
    'mkdir -p /runtime/nodejs/bin /runtime/tmp',
    'cp "$(command -v node)" /runtime/nodejs/bin/node',
    `cp --parents -L $(ldd "$(command -v node)" | grep -o '/[^ ]*') /runtime`,
    'cp --parents -r /etc/ssl/certs /runtime',
  ];
  const stages = [`FROM ${base} AS base`, `RUN ${copies.join(' && ')}`, 'FROM scratch', 'COPY --from=base /runtime /'];
  const folder = mkdtempSync(join(tmpdir(), 'basa-runtime-'));
  try {
    writeFileSync(join(folder, 'Dockerfile'), stages.join('\n'));
    buildah('-t', OWN_RUNTIME, folder);
    return OWN_RUNTIME;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function tryImage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'basa-image-'));
  try {
    for (const name of ['authority', 'server']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'authority.key'), Buffer.alloc(32, 7));
    execFileSync('chown', ['-R', '1000:1000', folder]);
    const authority = ['--set', 'keyFile=/keys/authority.key'];
    await startsWell(
      'authority',
      ['-v', `${folder}/authority:/data`, '-v', `${folder}/authority.key:/keys/authority.key:ro`],
      authority,
    );
    const server = ['--set', `authorityUrl=http://127.0.0.1:${PORT}`, '--set', `authorityKey=${NOBODY}`];
    await startsWell('server', ['-v', `${folder}/server:/data`], server);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As in deploy/: no capabilities, no way to write but to what is mounted. */
async function startsWell(service: string, volumes: readonly string[], settings: readonly string[]): Promise<void> {
  const limits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=1000:1000'];
  const confined = ['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges', '--network', 'host'];
  const own = ['--set', 'dataFolder=/data', '--set', `port=${PORT}`, ...settings];
  const started = ['run', '-d', ...limits, ...confined, ...volumes, IMAGE, service, ...own];
  const id = podman(...started);
  try {
    for (let look = 0; !(await isAlive()); look++) {
      if (look === LOOKS) throw new Error(`the ${service} does not answer: ${podman('logs', id)}`);
      await sleep(200);
    }
    const seen = podman('exec', id, '/nodejs/bin/node', '-e', LOOK_INSIDE);
    if (seen !== '1000 EROFS ENOENT') throw new Error(`the ${service} is not confined: ${seen}`);
  } finally {
    podman('rm', '-f', id);
  }
}

async function isAlive(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${PORT}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function podman(...words: readonly string[]): string {
  return execFileSync('podman', ['--runtime', 'runc', ...words], { encoding: 'utf8' }).trim();
}
