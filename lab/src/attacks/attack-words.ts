/** Each attack in plain words, for the page Sees and for `npm run lab -- attacks`: its title, its story, and the outcome. */

export interface AttackWords {
  readonly title: string;
  readonly story: string;
}

/** By the names of the threat model (docs/threat-model.md). */
export const ATTACK_WORDS: Readonly<Record<string, AttackWords>> = {
  A1: {
    title: 'A spy takes a place, gets its key and vanishes',
    story: 'The next honest device is given the same place, and the spy’s key opens what was meant for it.',
  },
  A2: {
    title: 'The same spy does it twice',
    story: 'With the keys of two places, the spy and the server together can open everybody’s update.',
  },
  B1: {
    title: 'A late upload meets another one in the same place',
    story: 'Both are hidden by the same masks, so subtracting one from the other shows how the two updates differ.',
  },
  B2: {
    title: 'A late upload meets a spy’s in the same place',
    story: 'The spy knows its own update; what is left after subtracting it is the honest one.',
  },
  C1: {
    title: 'A lost upload is sent again, and has changed',
    story: 'A device whose upload seems lost trains again and hides the new update with the old masks.',
  },
  D1: {
    title: 'Everybody is told to be the last one',
    story: 'The last one in line is hidden only by what the others sent, and all of that was forged by the server.',
  },
  D2: {
    title: 'One message is kept back',
    story: 'The server hides one device’s message from another, so that one mask never goes in.',
  },
  E1: {
    title: 'An old key is used again',
    story: 'A spy keeps the key of one round and opens what is sealed in the next one.',
  },
  G1: {
    title: 'All but one are told that their work is out of date',
    story: 'Their updates shrink to nothing, so the sum of all is the update of the one that is left.',
  },
  H1: {
    title: 'The numbers are too small for the sum',
    story: 'Large updates overflow, as a car’s mileage counter does, and the sum comes out wrong.',
  },
  I1: {
    title: 'The server lies about a round having failed',
    story: 'Devices that believe it send their update once more; two sums that differ by one device show its update.',
  },
  J1: {
    title: 'A spy copies the name tag of a victim and leaves',
    story: 'The keys for a device that left are released, and they would fit the victim as well.',
  },
  K1: {
    title: 'All but one are told to hardly learn',
    story: 'A tiny learning rate turns their updates into zeros, and the sum is the update of the one that is left.',
  },
  L1: {
    title: 'A model that is blind in one spot',
    story:
      'The server sends a model in which only one device can change a certain part, so that part of the sum is its own.',
  },
  M1: {
    title: 'All but one are shown an old model again',
    story:
      'With it there is nothing to learn, their updates are zeros, and the sum is the update of the one that is left.',
  },
  N1: {
    title: 'A device runs twice',
    story: 'Two copies give the same update to two rounds; comparing the sums shows what the third device sent.',
  },
  O1: {
    title: 'All but one get a model on which nothing can be learned',
    story:
      'Their updates are almost nothing. If the server may add the update of the one device with a normal model to them, the sum is that device’s update.',
  },
  P1: {
    title: 'Devices give the same update twice, in two groups',
    story:
      'A device that trains twice on the same model gets nearly the same update; sums of groups that overlap can then be subtracted.',
  },
  Q1: {
    title: 'One of four authorities lies to everybody',
    story: 'It shows other rules of the task, tells another time and another end of a round, to stop devices.',
  },
  Q2: {
    title: 'One of four authorities lies, and another one is slow',
    story: 'Too few say the same in time, so that no round is ever opened.',
  },
  Q3: {
    title: 'An answer that never ends',
    story: 'The authority sends one byte every two seconds, so that a device waits for ever.',
  },
  R1: {
    title: 'The authority is set back to yesterday',
    story:
      'It has forgotten that a round was opened and opens it again without one device; the difference is that device’s update.',
  },
};

export interface Outcome {
  readonly findings: readonly string[];
  readonly isSumWrong: boolean;
  /** The rule by which a service goes on, if the attack is one on the service. */
  readonly stoppedBy: string | undefined;
}

/** `the server learns the update of U2`. */
export function outcomeText({ findings, isSumWrong, stoppedBy }: Outcome): string {
  const found = findings.map(findingText).join(', ');
  if (stoppedBy !== undefined) return found || 'everything goes on';
  if (findings.length > 0) return `the server learns ${found}`;
  return isSumWrong ? 'the sum is wrong' : 'the server learns nothing';
}

/** The name of what an attack is played against besides sealed mode. */
export function weakerText(mutant: string | undefined): string {
  return mutant === undefined ? 'The paper’s protocol' : 'Sealed mode without the rule against it';
}

/** The referee writes `x of U2` for an update, and differences with a minus. */
export function findingText(finding: string): string {
  const parts = finding.split(' - ').map((part) => part.replace(/^x of /, 'the update of '));
  return parts.length === 1 ? (parts[0] ?? '') : `the difference between ${parts.join(' and ')}`;
}
