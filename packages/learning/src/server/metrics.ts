/** The records of a run: one per trip and per version, and a summary of both. */
import type { Evaluation } from '../training/scores.ts';

/** One user's trip, from download to upload. */
export interface TripRecord {
  readonly user: number;
  readonly trip: number;
  readonly version: number;
  readonly staleness: number;
  readonly weight: number;
  readonly loss: number;
  readonly samples: number;
}

export interface VersionRecord extends Evaluation {
  readonly version: number;
  /** The virtual time at which the version was made. */
  readonly time: number;
}

export interface ClientStatistics {
  readonly user: number;
  readonly trips: number;
  readonly samples: number;
  readonly meanStaleness: number;
  readonly meanLoss: number;
}

export class RunMetrics {
  readonly trips: TripRecord[];
  readonly versions: VersionRecord[];

  /** Starts empty, or from the records of an earlier part of the run. */
  constructor(earlier?: { readonly trips: readonly TripRecord[]; readonly versions: readonly VersionRecord[] }) {
    this.trips = [...(earlier?.trips ?? [])];
    this.versions = [...(earlier?.versions ?? [])];
  }

  addTrip(record: TripRecord): void {
    this.trips.push(record);
  }

  addVersion(record: VersionRecord): void {
    this.versions.push(record);
  }

  /** The first version whose accuracy reached the target. */
  reached(accuracy: number): VersionRecord | undefined {
    return this.versions.find((record) => (record.accuracy ?? 0) >= accuracy);
  }

  summary(): { trips: number; samples: number; meanStaleness: number; maxStaleness: number; meanLoss: number } {
    const staleness = this.trips.map((record) => record.staleness);
    return {
      trips: this.trips.length,
      samples: sum(this.trips.map(({ samples }) => samples)),
      meanStaleness: mean(staleness),
      maxStaleness: staleness.reduce((most, value) => Math.max(most, value), 0),
      meanLoss: mean(this.trips.map(({ loss }) => loss)),
    };
  }

  /** One row per user that made a trip, by user. */
  perClient(): readonly ClientStatistics[] {
    const byUser = new Map<number, TripRecord[]>();
    for (const record of this.trips) byUser.set(record.user, [...(byUser.get(record.user) ?? []), record]);
    return [...byUser.entries()]
      .sort(([a], [b]) => a - b)
      .map(([user, records]) => ({
        user,
        trips: records.length,
        samples: sum(records.map(({ samples }) => samples)),
        meanStaleness: mean(records.map(({ staleness }) => staleness)),
        meanLoss: mean(records.map(({ loss }) => loss)),
      }));
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}
