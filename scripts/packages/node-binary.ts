/** Other Nodes for this machine, from the registry packages that hold their binaries. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runConsumer } from './consumer.ts';

/** The path of the newest Node of this major version; `folder` is empty. */
export function fetchNode(major: number, folder: string): string {
  const spec = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@${major}`;
  const pack = ['pack', spec, '--silent', '--pack-destination', folder];
  const file = execFileSync('npm', pack, { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
  execFileSync('tar', ['-xzf', file], { cwd: folder });
  return join(folder, 'package/bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** Runs the consumer's project on the newest Node of each major version; `folder` holds their binaries. */
export function runOnNodes(project: string, folder: string, majors: readonly number[] = [20, 22, 24, 26]): void {
  for (const major of majors) {
    const place = join(folder, `node-${major}`);
    mkdirSync(place);
    const node = fetchNode(major, place);
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    console.log(`Node ${version}:\n${runConsumer(project, node)}`);
  }
}
