/** A program of ours as a process: what it says, and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Ended } from '../programs/basa.ts';

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Fulfilled when standard output holds this text. */
  said(text: string): Promise<string>;
}

export function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd?: string,
): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
  });
  let [out, errors] = ['', ''];
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    for (const listener of listeners) listener();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, errors })));
  const said = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (out.includes(text)) resolve(out);
      };
      listeners.add(look);
      look();
      void ended.then(({ code }) => reject(new Error(`ended with ${code} before it said "${text}": ${errors}`)));
    });
  return { child, ended, said };
}
