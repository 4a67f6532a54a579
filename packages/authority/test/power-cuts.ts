/** Cuts the power between a record and its answer, and asks again. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Authority } from '../src/index.ts';
import type { Answer } from './asking.ts';
import { CuttingWitness } from './cutting-witness.ts';
import { type Home, start, stop } from './homes.ts';

export class PowerCuts {
  readonly witness: CuttingWitness = new CuttingWitness();
  readonly #home: Home;
  /** The number of power cuts. */
  count = 0;

  constructor(home: Home) {
    this.#home = home;
  }

  /** Takes the step with the power cut, then again: on the disk of that moment, and on the authority that lives on. */
  async survive(authority: Authority, step: (at: Authority) => Promise<Answer>): Promise<Answer> {
    const image = join(this.#home.root, `image-${++this.count}`);
    const seen = this.witness.head;
    this.witness.onWrite = () => {
      cpSync(this.#home.dataFolder, image, { recursive: true });
      throw new Error('the power is cut');
    };
    expect((await step(authority)).status).toBe(500);
    const restarted = new CuttingWitness();
    restarted.head = seen;
    const second = await start({ ...this.#home, dataFolder: image }, { witness: restarted });
    const again = await step(second);
    expect([again.status, again.code]).toEqual([200, undefined]);
    await stop(second);
    const living = await step(authority);
    expect(living.bytes).toEqual(again.bytes);
    return living;
  }
}
