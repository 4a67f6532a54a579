/**
 * A preload (`node --import`) that adds up the time of each step of an upload in a server: computation of its thread, and waiting. SIGUSR2
 * writes the sums since the last signal to the file named by BASA_STEPS.
 */
import crypto from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { PASS } from '../../trials/crash/pass.ts';
import { noSteps, type StepSums } from './step-sums.ts';

let sums = noSteps();
let cpu = process.cpuUsage();
let loop = performance.eventLoopUtilization();
type Any = (...args: readonly unknown[]) => unknown;

/** Adds the time of `owner[name]`. If it returns a promise, the time ends when the promise settles. */
function timed(owner: object, name: string, step: keyof StepSums, only: (args: readonly unknown[]) => boolean): void {
  const methods = owner as Record<string, Any>;
  const real = methods[name] as Any;
  methods[name] = function (this: object, ...args: readonly unknown[]): unknown {
    if (!only(args)) return real.apply(this, [...args]);
    const began = performance.now();
    const add = (): void => {
      sums[step] += performance.now() - began;
    };
    const result = real.apply(this, [...args]);
    if (result instanceof Promise) void result.then(add, add);
    else add();
    return result;
  };
}

const always = (): boolean => true;
timed(crypto.Hash.prototype, 'update', 'hashMs', ([bytes]) => bytes instanceof Uint8Array && bytes.length >= 1024);
const some = await fs.promises.open(process.execPath);
const files = Object.getPrototypeOf(some) as object;
await some.close();
for (const name of ['write', 'writev']) timed(files, name, 'writeMs', always);
for (const name of ['sync', 'datasync']) timed(files, name, 'syncMs', always);
for (const name of ['open', 'mkdir', 'rename', 'stat']) timed(fs.promises, name, 'namesMs', always);
syncBuiltinESMExports();

/** A watched bundle tells of its commits: they hold its thread. */
let commitBegan = 0;
Object.assign(globalThis, {
  [PASS]: (moment: string): void => {
    if (moment.startsWith('before commit')) commitBegan = performance.now();
    if (moment.startsWith('after commit')) sums.commitMs += performance.now() - commitBegan;
  },
});

const began = new WeakMap<object, number>();
const messageOf = (message: unknown) => message as { readonly request: fs.ReadStream; readonly response: object };
subscribe('http.server.request.start', (message) => {
  const { request } = messageOf(message);
  const start = performance.now();
  began.set(request, start);
  request.once('end', () => {
    sums.receiveMs += performance.now() - start;
  });
});
subscribe('http.server.response.finish', (message) => {
  const start = began.get(messageOf(message).request);
  if (start === undefined) return;
  sums.requests++;
  sums.wholeMs += performance.now() - start;
});
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) sums.collectMs += duration;
}).observe({ entryTypes: ['gc'] });

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage(cpu);
  const { active } = performance.eventLoopUtilization(loop);
  cpu = process.cpuUsage();
  loop = performance.eventLoopUtilization();
  const report: StepSums = { ...sums, cpuMs: (user + system) / 1000, threadMs: active };
  sums = noSteps();
  fs.writeFileSync(process.env['BASA_STEPS'] ?? '/dev/null', JSON.stringify(report));
});
