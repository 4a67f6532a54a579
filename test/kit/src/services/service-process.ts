/** A service as a separate process: bundled from its source, reached at its address, killed or stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { bundleProcesses } from '../processes/bundle.ts';

/** Started many times: a bundle starts in a fraction of the time of its sources. */
const bundle = await bundleProcesses();

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class ServiceProcess {
  readonly #child: ChildProcess;
  /** Its output so far. */
  out = '';
  err = '';
  readonly ended: Promise<Ended>;
  readonly #listening: Promise<string>;

  constructor(which: 'server' | 'authority', config: string, environment: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [bundle.file(which), config], {
      env: { ...process.env, ...environment },
      stdio: 'pipe',
    });
    this.#child = child;
    this.ended = new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, out: this.out, err: this.err }));
    });
    this.#listening = new Promise((resolve) => {
      child.stdout?.on('data', (data) => {
        this.out += data;
        const url = /listening at (\S+)/.exec(this.out)?.[1];
        if (url !== undefined) resolve(url);
      });
      child.stderr?.on('data', (data) => {
        this.err += data;
      });
    });
  }

  /** Returns its address; rejects if it could not start. */
  async url(): Promise<string> {
    const failed = this.ended.then(({ code, err }) => Promise.reject(new Error(`it ended with ${code}: ${err}`)));
    return Promise.race([this.#listening, failed]);
  }

  /** Kills it, with no time for an orderly stop. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  stop(): Promise<Ended> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}
