/** A pool of worker threads: tasks wait in a queue, each free worker takes the next, and an answer finds its caller. */
import { parentPort, Worker } from 'node:worker_threads';

export interface WorkerPool<Task, Result> {
  readonly size: number;
  /** The worker's answer; what its handler threw is thrown here. */
  run(task: Task): Promise<Result>;
  /** Ends the workers; tasks not answered yet fail. */
  close(): Promise<void>;
}

export interface WorkerPoolOptions {
  /** A module that calls `serveWorker`. */
  readonly script: URL;
  /** Node's options for the workers; those of the process by default. */
  readonly execArgv?: readonly string[];
  readonly size: number;
  /** Given to every worker once, as node:worker_threads' `workerData`. */
  readonly workerData?: unknown;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

type Answer<Result> = { readonly result: Result } | { readonly error: unknown };

/** A worker that dies fails the task it had, and no other: the next task gets a new worker in its place. */
export function createWorkerPool<Task, Result>(options: WorkerPoolOptions): WorkerPool<Task, Result> {
  const { script, execArgv, size, workerData } = options;
  if (!Number.isInteger(size) || size < 1) throw new RangeError(`size must be a positive integer, got ${size}`);
  const queue: Waiting<Task, Result>[] = [];
  const workers = new Set<Worker>();
  const idle: Worker[] = [];
  const busy = new Map<Worker, Waiting<Task, Result>>();
  let isClosed = false;

  const next = (): void => {
    while (queue.length > 0) {
      const worker = idle.pop() ?? (workers.size < size ? start() : undefined);
      if (worker === undefined) return;
      const waiting = queue.shift() as Waiting<Task, Result>;
      busy.set(worker, waiting);
      worker.postMessage(waiting.task);
    }
  };
  const bury = (worker: Worker, error: Error): void => {
    if (!workers.delete(worker)) return;
    if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1);
    busy.get(worker)?.reject(error);
    busy.delete(worker);
    if (!isClosed) next();
  };
  const start = (): Worker => {
    const worker = new Worker(script, { workerData, ...(execArgv !== undefined && { execArgv: [...execArgv] }) });
    workers.add(worker);
    worker.on('message', (answer: Answer<Result>) => {
      const waiting = busy.get(worker);
      busy.delete(worker);
      idle.push(worker);
      if ('error' in answer) waiting?.reject(answer.error);
      else waiting?.resolve(answer.result);
      next();
    });
    worker.on('error', (error) => bury(worker, error));
    worker.on('exit', () => bury(worker, new Error('a worker of the pool has ended')));
    return worker;
  };
  // At once, so that the first task does not wait for the start of a thread.
  idle.push(...Array.from({ length: size }, start));

  return {
    size,
    run: (task) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error('the pool is closed'));
        queue.push({ task, resolve, reject });
        next();
      }),
    async close() {
      isClosed = true;
      const ending = [...workers];
      for (const { reject } of queue.splice(0)) reject(new Error('the pool is closed'));
      for (const worker of ending) bury(worker, new Error('the pool is closed'));
      await Promise.all(ending.map((worker) => worker.terminate()));
    },
  };
}

/** The worker's side: answers task after task. */
export function serveWorker<Task, Result>(handle: (task: Task) => Result | Promise<Result>): void {
  if (parentPort === null) throw new Error('serveWorker is for worker threads');
  const port = parentPort;
  port.on('message', async (task: Task) => {
    try {
      port.postMessage({ result: await handle(task) });
    } catch (error) {
      port.postMessage({ error });
    }
  });
}
