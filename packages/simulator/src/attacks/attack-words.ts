/** The title, story and outcome of each attack in plain words, for the page Sees and for `npm run lab -- attacks`. */

export interface AttackWords {
  readonly title: string;
  readonly story: string;
}

/** By the names of the threat model (docs/threat-model.md). */
export const ATTACK_WORDS: Readonly<Record<string, AttackWords>> = {
  A1: {
    title: 'A spy takes a place, gets its key and vanishes',
    story:
      'The next honest device gets the same place. The spy’s key then opens the messages that are sealed to that device.',
  },
  A2: {
    title: 'The same spy takes two places',
    story: 'With the keys of two places, the spy and the server together can open every device’s update.',
  },
  B1: {
    title: 'Two uploads arrive for the same place',
    story:
      'One upload is late, so its place was given to another device. Both are hidden by the same masks, so the server can subtract them and see how the two updates differ.',
  },
  B2: {
    title: 'A late upload and a spy’s upload arrive for the same place',
    story: 'The spy knows its own update. Subtracting it leaves the honest update.',
  },
  C1: {
    title: 'A lost upload is sent again with a different update',
    story:
      'The device trains again, and hides the new update with the old masks. The server subtracts the two uploads.',
  },
  D1: {
    title: 'Every device is told that it is the last one',
    story:
      'The update of the last device is hidden only by masks from the others, and the server has forged all of them.',
  },
  D2: {
    title: 'The server withholds one message',
    story: 'The server does not deliver one device’s message to another, so one mask is missing from the upload.',
  },
  E1: {
    title: 'An old key is used again',
    story: 'A spy keeps its key from one group, and opens the messages of the next group with it.',
  },
  G1: {
    title: 'All devices but one are told that their updates are out of date',
    story:
      'Old updates get less weight, and theirs shrink to nothing. The sum is then the update of the one remaining device.',
  },
  H1: {
    title: 'The numbers are too small for the sum',
    story: 'The sum of large updates overflows, like the mileage counter of a car, and the result is wrong.',
  },
  I1: {
    title: 'The server claims that a group has failed',
    story:
      'Devices that believe it send their update again. Two sums that differ by one device reveal that device’s update.',
  },
};

export interface Outcome {
  readonly findings: readonly string[];
  readonly isSumWrong: boolean;
  /** The attackers read the sum of a whole group, as the server should. */
  readonly hasSum: boolean;
}

export function resultText({ findings, isSumWrong, hasSum }: Outcome): string {
  const learned = findings.filter(isUpdate).map(findingText);
  const others = findings.filter((finding) => !isUpdate(finding));
  const found = [...(learned.length === 0 ? [] : [`the server learns ${learned.join(', ')}`]), ...others];
  if (found.length > 0) return found.join('; ');
  if (isSumWrong) return 'the sum is wrong';
  return hasSum ? 'the server learns only the sum of a whole group' : 'the server learns nothing';
}

/** The referee writes `x of U2` for an update, and joins several with a plus or a minus. */
export function findingText(finding: string): string {
  const parts = finding.split(/ [-+] /).map((part) => part.replace(/^x of /, 'the update of '));
  if (parts.length === 1) return parts[0] ?? '';
  return `the ${finding.includes(' - ') ? 'difference between' : 'sum of'} ${parts.join(' and ')}`;
}

function isUpdate(finding: string): boolean {
  return finding.startsWith('x of ');
}
