/** Another Node for this machine, from the registry package that holds its binary. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The path of the newest Node of this major version; `folder` is empty. */
export function fetchNode(major: number, folder: string): string {
  const spec = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@${major}`;
  const pack = ['pack', spec, '--silent', '--pack-destination', folder];
  const file = execFileSync('npm', pack, { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
  execFileSync('tar', ['-xzf', file], { cwd: folder });
  return join(folder, 'package/bin', process.platform === 'win32' ? 'node.exe' : 'node');
}
