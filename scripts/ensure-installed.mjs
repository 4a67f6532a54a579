// Installs the exact dependencies of the lockfile when node_modules lacks any of them; plain JavaScript,
// because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `BASA needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer Node and try again.`,
  );
  process.exit(1);
}

if (!isInstalled()) {
  console.error('Installing dependencies (once) ...');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 'pipe'],
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  process.stderr.write(npm.stderr ?? '');
  if (npm.status !== 0) {
    console.error(`\`npm ci\` failed: ${adviceFor(npm)}, then run the command again.`);
    process.exit(1);
  }
}

/** What to do, by the code that npm names. */
function adviceFor({ error, stderr = '' }) {
  const [, code = error?.code] = /^npm (?:error|ERR!) code (\w+)/m.exec(stderr) ?? [];
  if (error?.code === 'ENOENT') return 'install npm, which comes with Node';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `make ${root} and npm's cache (npm config get cache) belong to the user who runs this, without sudo`;
  if (code === 'ENOSPC') return 'free some space on the disk';
  return 'check that the npm registry can be reached (npm ping)';
}

/** True when every required package of the lockfile stands in node_modules at its version. */
function isInstalled() {
  const installedLock = `${root}node_modules/.package-lock.json`;
  if (!existsSync(installedLock)) return false;
  const wanted = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedLock, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) =>
      !path.includes('node_modules/') ||
      entry.optional ||
      (entry.link ? installed[path]?.link : installed[path]?.version === entry.version && existsSync(root + path)),
  );
}
