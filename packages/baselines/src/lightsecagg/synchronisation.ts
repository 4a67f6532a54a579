/** What happens while asynchronous LightSecAgg waits for U answers: the literature does not say, so it is a choice. */

export interface SynchronisationReading {
  /** Whether the server waits for users that answer only when their own training ends. */
  readonly waits: boolean;
  /** An update that arrives during the wait: lost, in the next buffer, or kept at the door until a buffer has room. */
  readonly arrival: 'lost' | 'counted' | 'held';
  /** When its user starts on its next trip. */
  readonly restart: 'at-once' | 'after-the-wait' | 'when-accepted';
}

/** From the slowest to the fastest. `sequential` fits the paper's table best; quote the range, not one of them. */
export const SYNCHRONISATION_READINGS = {
  sequential: { waits: true, arrival: 'lost', restart: 'at-once' },
  barrier: { waits: true, arrival: 'counted', restart: 'after-the-wait' },
  block: { waits: true, arrival: 'held', restart: 'when-accepted' },
  background: { waits: false, arrival: 'counted', restart: 'at-once' },
} as const satisfies Readonly<Record<string, SynchronisationReading>>;
