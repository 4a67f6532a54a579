// Installs the exact dependencies of the lockfile where node_modules lacks any of them; plain JavaScript, because it runs
// before anything is installed. `start` as its argument asks only for what `npm start` and `npm run basa` run on, which is
// a fraction: everything but devDependencies. Whatever needs the rest adds it later.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isForStart = process.argv[2] === 'start';
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `BASA needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer Node and try again.`,
  );
  process.exit(1);
}

const wanted = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')).packages;
const isWhole = isInstalled(() => true);
if (!isWhole && !(isForStart && isInstalled(isOfStart))) {
  // `npm ci` begins with removing everything: what is there already may be in use, by a demo in another window.
  const isPart = !isForStart && isInstalled(isOfStart);
  console.error(isPart ? 'Installing the development tools (once) ...' : 'Installing dependencies (once) ...');
  const how = isPart ? ['install', '--no-save', '--include=dev'] : ['ci', isForStart ? '--omit=dev' : '--include=dev'];
  const npm = spawnSync('npm', [...how, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 'pipe'],
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  process.stderr.write(npm.stderr ?? '');
  if (npm.status !== 0) {
    console.error(`\`npm ${how[0]}\` failed: ${adviceFor(npm)}, then run the command again.`);
    process.exit(1);
  }
}

/** The advice, by the code that npm names. */
function adviceFor({ error, stderr = '' }) {
  const [, code = error?.code] = /^npm (?:error|ERR!) code (\w+)/m.exec(stderr) ?? [];
  if (error?.code === 'ENOENT') return 'install npm, which comes with Node';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `make sure that you own ${root} and npm's cache (npm config get cache), do not use sudo`;
  if (code === 'ENOSPC') return 'free some space on the disk';
  return 'check that the npm registry can be reached (npm ping)';
}

function isOfStart(entry) {
  return !entry.dev;
}

/** True when every required package of the lockfile that is asked for stands in node_modules at its version. */
function isInstalled(isAsked) {
  const installedLock = `${root}node_modules/.package-lock.json`;
  if (!existsSync(installedLock)) return false;
  const installed = JSON.parse(readFileSync(installedLock, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) =>
      !path.includes('node_modules/') ||
      entry.optional ||
      !isAsked(entry) ||
      (entry.link ? installed[path]?.link : installed[path]?.version === entry.version && existsSync(root + path)),
  );
}
