import { expect, it } from 'vitest';
import { createWorkerPool } from '../src/node/index.ts';

// Plain JavaScript, so that a worker can start it without a loader; it answers as serveWorker does.
const source = `
  import { parentPort, workerData } from 'node:worker_threads';
  parentPort.on('message', (task) => {
    if (task === 'crash') throw new Error('crashed');
    parentPort.postMessage(task < 0 ? { error: new Error('negative') } : { result: task * workerData.factor });
  });`;
const script = new URL(`data:text/javascript,${encodeURIComponent(source)}`);

it('every task gets its own answer, however many there are', async () => {
  const pool = createWorkerPool<number, number>({ script, size: 2, workerData: { factor: 3 } });
  const tasks = Array.from({ length: 50 }, (_, n) => n);
  expect(await Promise.all(tasks.map((task) => pool.run(task)))).toEqual(tasks.map((task) => 3 * task));
  await pool.close();
});

it('what a handler throws reaches its caller, and the worker goes on', async () => {
  const pool = createWorkerPool<number, number>({ script, size: 1, workerData: { factor: 2 } });
  await expect(pool.run(-1)).rejects.toThrow('negative');
  expect(await pool.run(4)).toBe(8);
  await pool.close();
});

it('a worker that dies fails its own task, and another takes its place', async () => {
  const pool = createWorkerPool<unknown, number>({ script, size: 1, workerData: { factor: 2 } });
  const [dead, waiting] = [pool.run('crash'), pool.run(1)];
  await expect(dead).rejects.toThrow('crashed');
  expect(await waiting).toBe(2);
  await expect(pool.run('crash')).rejects.toThrow('crashed');
  expect(await pool.run(3)).toBe(6);
  await pool.close();
});

it('a worker that cannot start fails each task once, and does not start for ever', async () => {
  const broken = new URL(`data:text/javascript,${encodeURIComponent("throw new Error('no worker')")}`);
  const pool = createWorkerPool<number, number>({ script: broken, size: 1 });
  const tasks = [pool.run(1), pool.run(2)];
  for (const task of tasks) await expect(task).rejects.toThrow('no worker');
  await pool.close();
});

it('a task that cannot be sent fails, and the worker goes on', async () => {
  const pool = createWorkerPool<unknown, number>({ script, size: 1, workerData: { factor: 2 } });
  await expect(pool.run(() => 1)).rejects.toThrow('could not be cloned');
  expect(await pool.run(4)).toBe(8);
  await pool.close();
});

it.each([
  [true, 0],
  [false, 2],
])('a lazy pool starts no thread before its first task, another all of them: lazy %s', async (isLazy, threads) => {
  const memory = new SharedArrayBuffer(4);
  const counting = `
    import { parentPort, workerData } from 'node:worker_threads';
    Atomics.add(workerData, 0, 1);
    parentPort.on('message', (task) => parentPort.postMessage({ result: task }));`;
  const counter = new URL(`data:text/javascript,${encodeURIComponent(counting)}`);
  const started = new Int32Array(memory);
  const pool = createWorkerPool<number, number>({ script: counter, size: 2, workerData: started, isLazy });
  await expect.poll(() => Atomics.load(started, 0)).toBe(threads);
  expect(await pool.run(1)).toBe(1);
  await expect.poll(() => Atomics.load(started, 0)).toBe(Math.max(threads, 1));
  await pool.close();
});

it('memory goes to a worker and back without a copy', async () => {
  const moving = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (task) => {
      task[0] += 1;
      parentPort.postMessage({ result: task }, [task.buffer]);
    });`;
  const mover = new URL(`data:text/javascript,${encodeURIComponent(moving)}`);
  const pool = createWorkerPool<Uint8Array, Uint8Array>({ script: mover, size: 1 });
  const task = Uint8Array.of(1);
  const answer = pool.run(task, [task.buffer]);
  expect(task.length).toBe(0);
  expect(await answer).toEqual(Uint8Array.of(2));
  await pool.close();
});

it('a closed pool refuses, and an empty one cannot be made', async () => {
  const pool = createWorkerPool<number, number>({ script, size: 1, workerData: { factor: 2 } });
  await pool.close();
  await expect(pool.run(1)).rejects.toThrow('closed');
  expect(() => createWorkerPool({ script, size: 0 })).toThrow('positive integer');
});
