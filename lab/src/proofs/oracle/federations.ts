/** Symbolic federations that many runs of one shape share. */
import type { Millis } from '@basa/protocol';
import type { Federation } from '@basa/simulator';
import { type OracleEngine, symbolicFederation } from '../world/symbolic-federation.ts';
import type { WatchedDevice } from './watched-device.ts';

export interface BufferShape {
  readonly bufferSize: number;
  readonly minimum: number;
}

export interface SharedFederation {
  readonly federation: Federation;
  readonly start: Millis;
  /** By number: the device of an earlier run, whose key and certificate serve again. */
  readonly enrolled: Pick<WatchedDevice, 'signer' | 'certificate'>[];
}

/** One federation for each shape, for many runs in a row: setting one up costs as much as a run. */
export class Federations {
  readonly #engine: OracleEngine;
  readonly #made = new Map<string, SharedFederation>();

  constructor(engine: OracleEngine) {
    this.#engine = engine;
  }

  of({ bufferSize, minimum }: BufferShape): SharedFederation {
    const name = `${bufferSize}/${minimum}`;
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const shape = { engine: this.#engine, bufferSize, minimum, dimension: 1 };
    // A device may do more here than with one version per buffer, so everything that leaks there also leaks here.
    const federation = symbolicFederation({ ...shape, versions: 'unsafeMixed' });
    const shared = { federation, start: federation.now, enrolled: [] };
    this.#made.set(name, shared);
    return shared;
  }
}

/** Federations are discarded after this many runs, before their logs grow long. */
export const RUNS_PER_FEDERATION = 64;
