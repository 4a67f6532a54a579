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

export function createWorkerPool<Task, Result>(options: WorkerPoolOptions): WorkerPool<Task, Result> {
  const { script, execArgv, size, workerData } = options;
  if (!Number.isInteger(size) || size < 1) throw new RangeError(`size must be a positive integer, got ${size}`);
  const queue: Waiting<Task, Result>[] = [];
  const idle: Worker[] = [];
  const busy = new Map<Worker, Waiting<Task, Result>>();
  let failure: Error | undefined;

  const next = (): void => {
    while (idle.length > 0 && queue.length > 0) {
      const worker = idle.pop() as Worker;
      const waiting = queue.shift() as Waiting<Task, Result>;
      busy.set(worker, waiting);
      worker.postMessage(waiting.task);
    }
  };
  const fail = (error: Error): void => {
    failure ??= error;
    for (const waiting of [...busy.values(), ...queue.splice(0)]) waiting.reject(failure);
    busy.clear();
  };
  const workers = Array.from({ length: size }, () => {
    const worker = new Worker(script, { workerData, ...(execArgv !== undefined && { execArgv: [...execArgv] }) });
    worker.on('message', (answer: Answer<Result>) => {
      const waiting = busy.get(worker);
      busy.delete(worker);
      idle.push(worker);
      if ('error' in answer) waiting?.reject(answer.error);
      else waiting?.resolve(answer.result);
      next();
    });
    worker.on('error', (error) => fail(error));
    worker.on('exit', () => fail(new Error('a worker of the pool has ended')));
    return worker;
  });
  idle.push(...workers);

  return {
    size,
    run: (task) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        queue.push({ task, resolve, reject });
        next();
      }),
    async close() {
      fail(new Error('the pool is closed'));
      await Promise.all(workers.map((worker) => worker.terminate()));
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
