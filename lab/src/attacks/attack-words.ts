/** Each attack in plain words, for the page Sees and for `npm run lab -- attacks`: its title, its story, and the outcome. */

export interface AttackWords {
  readonly title: string;
  readonly story: string;
}

/** By the names of the threat model (docs/threat-model.md), and of the rules of the one-shot mode (docs/evidence.md). */
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
  S1: {
    title: 'A spy copies what a victim sealed for the authority',
    story: 'The copy stands in the spy’s own upload, so that the masks of the spy’s group contain the victim’s mask.',
  },
  S2: {
    title: 'One update is put into two groups',
    story: 'Two sums that share some of their updates can be subtracted, and the difference shows the others.',
  },
  S3: {
    title: 'Every authority is told about another group',
    story: 'Each of them would release the masks of a group that too few have agreed to, and the groups overlap.',
  },
  S4: {
    title: 'A task for which two of four authorities are enough',
    story: 'With one authority on its side, the server needs only one more for each of two groups that overlap.',
  },
  S5: {
    title: 'A group that is too small',
    story: 'The sum of a group of one is that device’s update.',
  },
  S6: {
    title: 'A spy fills a group with its own uploads',
    story: 'The spy knows all of them, so what is left of the sum is the update of the one honest device.',
  },
  S7: {
    title: 'A device gives two updates on one version of the model',
    story: 'They are nearly the same, so the sums of two groups can be compared with each other.',
  },
  S8: {
    title: 'The server swaps what devices have sealed',
    story:
      'It puts in secrets of its own for all devices but one. What is left of the released masks is the mask of that one.',
  },
  S9: {
    title: 'Two versions of the model in one group',
    story:
      'On a model that the server has prepared for it, an update can be almost nothing, and the sum is what the others gave.',
  },
  S10: {
    title: 'An authority on the server’s side opens all it can',
    story: 'It hands its secrets over. One share of every mask must stay hidden from it.',
  },
  S11: {
    title: 'A spy seals different secrets for different authorities',
    story: 'Honest authorities would then disagree about the upload, and one of them would look like a liar.',
  },
  S12: {
    title: 'An authority gives out a wrong sum of masks',
    story: 'The server would compute a wrong model and not notice it.',
  },
  S13: {
    title: 'The authority is set back to before it agreed to a group',
    story: 'It has forgotten that group and would agree to another one that overlaps with it.',
  },
  S14: {
    title: 'A device is told that its update expired, in the name of another hour',
    story: 'It would give the update again, although it is in a sum already.',
  },
  S15: {
    title: 'The clock of an authority is set back',
    story: 'What was over would be open again.',
  },
  S16: {
    title: 'An update that was called expired is added all the same',
    story: 'The device has given it again by then, so it would be in two sums.',
  },
  S17: {
    title: 'The server keeps uploads until their hour is long over',
    story: 'If the authority still had its key, a thief of the key could later open the uploads that the server kept.',
  },
  S18: {
    title: 'The server takes the noise off a private sum',
    story: 'If it could compute the noise itself, or get it twice, the sum would be bare again.',
  },
  S19: {
    title: 'The server listens while uploads are checked',
    story: 'A check needs only four words of a mask; any other word would show a part of an update.',
  },
  S20: {
    title: 'A device crashes right after it sent its update',
    story: 'If it had not written that down before, it would give the same update again to another group.',
  },
  S21: {
    title: 'The server says that an update expired',
    story: 'A device that believes a single authority would give the update again, although it is in a sum.',
  },
  S22: {
    title: 'A restored authority follows the votes of others',
    story: 'It has forgotten its own vote, and would be the third voice for two groups that overlap.',
  },
  S23: {
    title: 'Two groups under one number',
    story: 'An authority that agrees to a number, and not to the list of uploads, would release both groups.',
  },
  S24: {
    title: 'A device seals a secret with ML-KEM that only some authorities can open',
    story: 'Honest authorities would disagree about the update, and one of them would look like a liar.',
  },
  S25: {
    title: 'Somebody records uploads and breaks X25519 years later',
    story: 'If anybody could compute the randomness of ML-KEM, a quantum computer would open the recorded updates.',
  },
  S26: {
    title: 'An authority states an ML-KEM key that is none',
    story: 'Devices that do not check it would fail to seal anything, although the other authorities are enough.',
  },
};

export interface Outcome {
  readonly findings: readonly string[];
  readonly isSumWrong: boolean;
  /** The attackers read the sum of a whole group, as the server should. */
  readonly hasSum: boolean;
}

/** `isStop`: the attack tries to stop the service, not to learn anything. */
export function resultText({ findings, isSumWrong, hasSum }: Outcome, isStop = false): string {
  const learned = findings.filter(isUpdate).map(findingText);
  const others = findings.filter((finding) => !isUpdate(finding));
  const found = [...(learned.length === 0 ? [] : [`the server learns ${learned.join(', ')}`]), ...others];
  if (found.length > 0) return found.join('; ');
  if (isStop) return 'everything goes on';
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
