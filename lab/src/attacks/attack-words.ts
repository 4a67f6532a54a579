/** The title, story and outcome of each attack in plain words, for the page Sees and for `npm run lab -- attacks`. */

export interface AttackWords {
  readonly title: string;
  readonly story: string;
}

/** By the names of the threat model (docs/threat-model.md), and of the rules of the one-shot mode (docs/evidence.md). */
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
  S1: {
    title: 'A spy copies a victim’s sealed secrets',
    story:
      'The spy puts the copy into its own upload, so the released masks of the spy’s group include the victim’s mask.',
  },
  S2: {
    title: 'The server puts one update into two groups',
    story: 'The server subtracts two sums that share some of their updates. The difference reveals the other updates.',
  },
  S3: {
    title: 'The server tells each authority about a different group',
    story:
      'Each authority would release the masks of a group to which too few authorities have agreed, and the groups overlap.',
  },
  S4: {
    title: 'A task for which two of four authorities are enough',
    story: 'The server colludes with one authority, so it needs only one more for each of two overlapping groups.',
  },
  S5: {
    title: 'A group that is too small',
    story: 'The sum of a group with only one device is that device’s update.',
  },
  S6: {
    title: 'A spy fills a group with its own uploads',
    story: 'The spy knows its own uploads. Subtracting them from the sum leaves the update of the one honest device.',
  },
  S7: {
    title: 'A device gives two updates for one version of the model',
    story: 'The two updates are nearly the same, so the server can compare the sums of two groups.',
  },
  S8: {
    title: 'The server replaces sealed secrets of devices',
    story:
      'It replaces the secrets of all devices but one with its own. It then subtracts its own masks from the released sum of masks, and has the mask of that one device.',
  },
  S9: {
    title: 'Two versions of the model in one group',
    story:
      'The server can prepare a model whose updates are almost zero. The sum is then made of the other updates only.',
  },
  S10: {
    title: 'An authority that colludes with the server opens everything it can',
    story: 'It gives its secrets to the server. One share of every mask must stay hidden from it.',
  },
  S11: {
    title: 'A spy seals different secrets for different authorities',
    story: 'Honest authorities would then disagree about the upload, and one of them would seem to lie.',
  },
  S12: {
    title: 'An authority returns a wrong sum of masks',
    story: 'The server would compute a wrong model without noticing.',
  },
  S13: {
    title: 'The authority is restored from a backup that is older than its last agreement',
    story: 'It no longer knows the group to which it agreed, and would agree to an overlapping group.',
  },
  S15: {
    title: 'The clock of an authority is set back',
    story: 'Time limits that have passed would be open again.',
  },
  S17: {
    title: 'The server keeps uploads until long after their hour has ended',
    story: 'If the authority still had the key of that hour, a thief of the key could open the uploads.',
  },
  S18: {
    title: 'The server removes the noise from a private sum',
    story:
      'If it could compute the noise, or get the same sum again with different noise, the sum would no longer be private.',
  },
  S19: {
    title: 'The server listens while uploads are checked',
    story: 'A check needs only four words of a mask. Any other word would reveal a part of an update.',
  },
  S20: {
    title: 'A device crashes right after it sent its update',
    story: 'If it had not recorded the upload before sending it, it would give the same update to another group.',
  },
  S22: {
    title: 'A restored authority votes like the others',
    story: 'It no longer knows its own vote, and would be the third vote for each of two overlapping groups.',
  },
  S23: {
    title: 'Two groups with the same number',
    story:
      'An authority that agrees only to the number, not to the list of uploads, would release the masks of both groups.',
  },
  S24: {
    title: 'A device seals a secret with ML-KEM that only some authorities can open',
    story: 'Honest authorities would disagree about the update, and one of them would seem to lie.',
  },
  S25: {
    title: 'An attacker records uploads and breaks X25519 years later',
    story:
      'If the attacker could compute the randomness of ML-KEM, a quantum computer would be enough to open the recorded updates.',
  },
  S26: {
    title: 'An authority publishes an invalid ML-KEM key',
    story: 'Devices that do not check the key could not seal anything, although the other authorities would be enough.',
  },
  S27: {
    title: 'An authority invents devices',
    story:
      'It colludes with the server. Invented devices could fill a group around one real device, whose update the sum would then reveal.',
  },
  S28: {
    title: 'One authority’s vote is shown several times',
    story: 'If it counted each time, one colluding authority would be enough for overlapping groups.',
  },
  S29: {
    title: 'An authority is asked to serve a task of others',
    story: 'The devices of that task have not agreed to this authority.',
  },
  S30: {
    title: 'An authority publishes an invalid X25519 key',
    story: 'Everybody could compute secrets that are sealed to this key.',
  },
  S31: {
    title: 'One authority makes up a version of the model',
    story: 'A device that trains on a model of the attackers gives an update that says more about its data.',
  },
  S32: {
    title: 'A device is shown an old version of the model',
    story: 'The server could choose an old model on which the updates of all other devices are almost zero.',
  },
  S33: {
    title: 'A device trains twice on one version',
    story: 'Both updates are nearly the same, so the server could compare the sums of two groups that overlap.',
  },
  S34: {
    title: 'A device spends more than its privacy budget',
    story: 'Noise protects a device only for a limited number of sums.',
  },
  S35: {
    title: 'A stolen device is used after it was revoked',
    story: 'Its owner has reported the theft, but the thief still has its key.',
  },
  S36: {
    title: 'A device gives an update that is far too large',
    story: 'A single device could move the model as far as it likes.',
  },
  S37: {
    title: 'A device claims far too many examples',
    story: 'The updates of all other devices would hardly count.',
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
