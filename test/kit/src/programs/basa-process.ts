/** `basa` as a process, as a person would start it. */
import { bundleBasa } from '../processes/bundle-basa.ts';
import { type Running, startProgram } from '../processes/start.ts';
import type { Ended } from './basa.ts';

const MAIN = await bundleBasa();

export const start = (args: readonly string[], environment?: Readonly<Record<string, string>>, cwd?: string): Running =>
  startProgram(MAIN, args, environment, cwd);

export function basa(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<Ended> {
  return start(args, environment, cwd).ended;
}
