/** Every expected refusal of the baselines in one table: a stable code and a sentence for people. */

export const REFUSALS = {
  'too-few': 'Fewer users than the threshold take part, so the sum cannot be opened and no user answers.',
  'too-few-shares': 'Fewer shares of one user came back than its secret needs.',
  'keys-not-distinct': 'Two users advertise the same key, or one user advertises twice.',
  'key-invalid': "A peer's public key is malformed or of small order.",
  'share-invalid': 'A sealed share does not open: it was made for somebody else, or changed on the way.',
  'share-missing': 'A survivor never sent this user a share.',
  'not-expected': 'This user is not one of those whose message is awaited.',
  'already-answered': 'A user answers once: two answers about the same mask would open it.',
  'wrong-length': 'A vector does not have the dimension of the session.',
  'would-wrap': 'The largest possible sum does not fit the field.',
} as const satisfies Readonly<Record<string, string>>;

export interface Refused {
  readonly kind: 'refused';
  readonly reason: keyof typeof REFUSALS;
  readonly detail: string;
}

export function refused(reason: keyof typeof REFUSALS, detail: string): Refused {
  return { kind: 'refused', reason, detail };
}
