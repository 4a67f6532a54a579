/**
 * A preload (`node --import`) that observes every moment before and after data becomes durable: a commit, a flush or a rename. It prints
 * each kind of moment once on standard error, and kills the process with SIGKILL at the given moment.
 *
 *     BASA_DIE_AT="before commit records+buffers"  BASA_DIE_NTH=2
 */
import fs, { writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { PASS } from './pass.ts';

const dieAt = process.env['BASA_DIE_AT'];
const nth = Number(process.env['BASA_DIE_NTH'] ?? 1);
const seen = new Set<string>();
let met = 0;

function pass(name: string): void {
  if (!seen.has(name)) writeSync(2, `moment: ${name}\n`);
  seen.add(name);
  if (name === dieAt && ++met === nth) process.kill(process.pid, 'SIGKILL');
}

Object.assign(globalThis, { [PASS]: pass });

/** The part of a path that identifies the kind of a file, without folders and files that are named by hashes or numbers. */
function kindOf(path: unknown): string {
  const words = String(path)
    .split(/[\\/]/)
    .filter((part) => /^[a-z]+(\.[a-z]+)*$/.test(part));
  return words.at(-1) ?? 'file';
}

type Any = (...args: readonly unknown[]) => unknown;
const holder = (value: object): Record<string, Any> => value as Record<string, Any>;
const paths = new WeakMap<object, string>();
const descriptors = new Map<number, string>();

/** Wraps `owner[name]`, so that a durable moment is reported before and after each call. */
function around(
  owner: object,
  name: string,
  kind: (self: object, args: readonly unknown[]) => string | undefined,
): void {
  const real = holder(owner)[name] as Any;
  holder(owner)[name] = function (this: object, ...args: readonly unknown[]): unknown {
    const what = kind(this, args);
    if (what === undefined) return real.apply(this, [...args]);
    const label = `${name.replace('Sync', '')} ${what}`;
    pass(`before ${label}`);
    const result = real.apply(this, [...args]);
    const after = (): void => pass(`after ${label}`);
    if (!(result instanceof Promise)) after();
    else void result.then(after, () => {});
    return result;
  };
}

const realOpen = fs.promises.open;
holder(fs.promises)['open'] = (async (...args: Parameters<typeof realOpen>) => {
  const file = await realOpen(...args);
  paths.set(file, kindOf(args[0]));
  return file;
}) as Any;
const realOpenSync = fs.openSync;
holder(fs)['openSync'] = ((...args: Parameters<typeof realOpenSync>) => {
  const descriptor = realOpenSync(...args);
  descriptors.set(descriptor, kindOf(args[0]));
  return descriptor;
}) as Any;
const some = await realOpen(process.execPath);
const files = Object.getPrototypeOf(some) as object;
await some.close();
for (const name of ['sync', 'datasync']) around(files, name, (self) => paths.get(self));
for (const name of ['fsyncSync', 'fdatasyncSync'])
  around(fs, name, (_, [descriptor]) => descriptors.get(Number(descriptor)));
around(fs, 'renameSync', (_, [, to]) => kindOf(to));
around(fs.promises, 'rename', (_, [, to]) => kindOf(to));
syncBuiltinESMExports();
