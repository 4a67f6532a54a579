/** A party of a federation crashes right after it made something durable. */

export type PartyName = 'user' | 'server' | 'authority';

/** Its answer never left. */
export class Crash extends Error {
  readonly party: PartyName;

  constructor(party: PartyName) {
    super(`${party} crashed`);
    this.party = party;
  }
}
