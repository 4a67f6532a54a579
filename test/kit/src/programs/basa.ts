/** `basa` as a process, as a person would start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCli } from '@basa/cli';
import { FROM_SOURCE } from '../root.ts';

const MAIN = fileURLToPath(new URL('../../../../packages/cli/src/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Fulfilled when standard output holds this text. */
  said(text: string): Promise<string>;
}

export function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [...FROM_SOURCE, MAIN, ...args], {
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

/** The same in this process, which is quicker to start. */
export async function basaHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  let [out, errors] = ['', ''];
  const stdout = {
    write: (text: string) => {
      out += text;
    },
  };
  const stderr = {
    write: (text: string) => {
      errors += text;
    },
  };
  const code = await runCli(args, environment, { stdout, stderr });
  return { code, out, errors };
}

export function basa(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Ended> {
  return start(args, environment).ended;
}

export function lastLine(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

/** The variables that a program or command told its reader to set. */
export function exportsOf(said: string): Record<string, string> {
  return Object.fromEntries(
    [...said.matchAll(/export (\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}
