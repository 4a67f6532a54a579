/** The behaviour of users while asynchronous LightSecAgg waits for U answers. The literature does not specify it, so it is a choice. */

export interface SynchronisationReading {
  /** True if the server waits for users that answer only when their own training ends. */
  readonly waits: boolean;
  /** The fate of an update that arrives during the wait: lost, counted in the next buffer, or held until a buffer has room. */
  readonly arrival: 'lost' | 'counted' | 'held';
  /** The time at which its user starts its next trip. */
  readonly restart: 'at-once' | 'after-the-wait' | 'when-accepted';
}

/** From the slowest to the fastest. `sequential` fits the paper's table best; quote the range, not one of them. */
export const SYNCHRONISATION_READINGS = {
  sequential: { waits: true, arrival: 'lost', restart: 'at-once' },
  barrier: { waits: true, arrival: 'counted', restart: 'after-the-wait' },
  block: { waits: true, arrival: 'held', restart: 'when-accepted' },
  background: { waits: false, arrival: 'counted', restart: 'at-once' },
} as const satisfies Readonly<Record<string, SynchronisationReading>>;
