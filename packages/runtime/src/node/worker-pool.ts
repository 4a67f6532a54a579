/** Locates a package's own worker: its compiled module or, inside the repository, its source. */
import { parentPort, Worker } from 'node:worker_threads';

export interface WorkerModule {
  readonly script: URL;
  readonly execArgv?: readonly string[];
}

/** The module `name` in the folder of the module at `url` (its `import.meta.url`). */
export function workerModule(url: string, name: string): WorkerModule {
  if (!url.endsWith('.ts')) return { script: new URL(`${name}.js`, url) };
  const thread = new URL('../../../../scripts/thread.mjs', import.meta.url).href;
  const source = `import { runThread } from '${thread}'; await runThread('${new URL(`${name}.ts`, url).href}');`;
  return {
    script: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    execArgv: ['--conditions=@basa/source'],
  };
}

export interface WorkerPool<Task, Result> {
  readonly size: number;
  /**
   * Returns the worker's answer; an error that its handler threw is thrown here. Memory in `transfer` goes to the
   * worker without a copy.
   */
  run(task: Task, transfer?: readonly ArrayBuffer[]): Promise<Result>;
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
  /** The process may end while workers are idle; by default it runs until `close`. */
  readonly isUnheld?: boolean;
  /** A thread starts with the first task that needs it; by default all start at once, so that no task waits for them. */
  readonly isLazy?: boolean;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

type Answer<Result> = { readonly result: Result } | { readonly error: unknown };

/** A worker that dies fails only the task it had: the next task gets a new worker in its place. */
export function createWorkerPool<Task, Result>(options: WorkerPoolOptions): WorkerPool<Task, Result> {
  const { script, execArgv, size, workerData, isUnheld = false, isLazy = false } = options;
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
      try {
        worker.postMessage(waiting.task, waiting.transfer);
      } catch (error) {
        idle.push(worker); // the worker did not receive the task
        waiting.reject(error);
        continue;
      }
      busy.set(worker, waiting);
      if (isUnheld) worker.ref();
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
    const worker = new Worker(script, {
      workerData,
      ...(execArgv !== undefined && { execArgv: [...execArgv] }),
    });
    workers.add(worker);
    if (isUnheld) worker.unref();
    worker.on('message', (answer: Answer<Result>) => {
      const waiting = busy.get(worker);
      busy.delete(worker);
      idle.push(worker);
      if (isUnheld) worker.unref();
      if ('error' in answer) waiting?.reject(answer.error);
      else waiting?.resolve(answer.result);
      next();
    });
    worker.on('error', (error) => bury(worker, error));
    worker.on('exit', () => bury(worker, new Error('a worker of the pool has ended')));
    return worker;
  };
  if (!isLazy) idle.push(...Array.from({ length: size }, start));

  return {
    size,
    run: (task, transfer = []) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error('the pool is closed'));
        queue.push({ task, transfer, resolve, reject });
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

/** The worker's side: answers task after task. Memory that `transferOf` names goes back without a copy. */
export function serveWorker<Task, Result>(
  handle: (task: Task) => Result | Promise<Result>,
  transferOf: (result: Result) => readonly ArrayBuffer[] = () => [],
): void {
  if (parentPort === null) throw new Error('serveWorker is for worker threads');
  const port = parentPort;
  port.on('message', async (task: Task) => {
    try {
      const result = await handle(task);
      port.postMessage({ result }, transferOf(result));
    } catch (error) {
      port.postMessage({ error });
    }
  });
}
