/** Four authorities of which three are needed, the first one a liar; answers come on a simulated clock, so nothing waits. */
import {
  type CloseAnswer,
  ENGINE,
  endorse,
  type Outcome,
  type OutcomeBody,
  outcomeCodec,
  Poll,
  refused,
  slotKeyIssuer,
  slotSealing,
  type TaskPolicy,
  voteCodec,
} from '@basa/protocol';
import { Federation, type FederationAuthority, type FederationDevice, granted } from '@basa/simulator';
import type { AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE } from './sealed-scene.ts';

export const COUNCIL = { authorities: 4, threshold: 3 };
export const LIAR = 0;
const USERS = 3;

/** With slot keys, because no other engine supports several authorities. */
export function councilWorld({ environment }: AttackSetting, policy: Partial<TaskPolicy> = {}): Federation {
  const { suite } = environment.tools;
  const random = environment.randomWords(1);
  const [issuer, ...otherIssuers] = Array.from({ length: COUNCIL.authorities }, () => {
    const words = new Uint32Array(8);
    random(words);
    return slotKeyIssuer(suite, new Uint8Array(words.buffer));
  });
  const sealing = slotSealing(suite, COUNCIL.authorities);
  const sealings = { engine: ENGINE.slotKeys, issuer: issuer as NonNullable<typeof issuer>, otherIssuers, sealing };
  return new Federation(environment, { ...ALL_OF_THREE, council: COUNCIL, sealings, policy });
}

/** Devices that took part in one buffer. */
export function contributed(world: Federation): readonly FederationDevice[] {
  const devices = Array.from({ length: USERS }, () => world.device());
  for (const device of devices) granted(device.contribute());
  return devices;
}

export interface Arrival<Answer> {
  readonly atMs: number;
  readonly answer: Answer;
}

export interface Rule<Answer> {
  isGood(answer: Answer): boolean;
  isEnough(good: readonly Answer[]): boolean;
  /** The time for which further answers are awaited once there are enough. */
  readonly graceMs: number;
}

/** Returns the valid answers that arrived before the wait ended. */
export function inTime<Answer>(arrivals: readonly Arrival<Answer>[], rule: Rule<Answer>): readonly Answer[] {
  const poll = new Poll<Answer>(arrivals.length, rule.isEnough);
  let untilMs = Number.POSITIVE_INFINITY;
  for (const { atMs, answer } of [...arrivals].sort((a, b) => a.atMs - b.atMs)) {
    if (atMs > untilMs) break;
    poll.answered(answer, rule.isGood(answer) ? undefined : refused('close-mismatch'));
    if (poll.isEnough) untilMs = Math.min(untilMs, atMs + rule.graceMs);
  }
  return poll.good;
}

/** The same answer for another close, under its own good signature. */
export function otherClose({ ports, messages, world }: FederationAuthority, answer: CloseAnswer): CloseAnswer {
  const closing = answer.vote.closing.map((byte) => byte ^ 1);
  const vote = endorse(voteCodec, world.policy, ports.signer, { ...answer.vote, closing });
  const outcome = signedOutcome(ports, { ...answer.outcome, status: 'open', accepted: [] });
  const body = { vote, outcome, keys: [] };
  return { ...body, signature: ports.signer.sign(messages.closeAnswer.statement(body)) };
}

export function signedOutcome({ signer }: FederationAuthority['ports'], body: OutcomeBody): Outcome {
  return { ...body, signature: signer.sign(outcomeCodec.statement(body)) };
}

/** These attacks learn nothing: their result is that some party is stopped. */
export function stopping(findings: readonly string[]): AttackResult {
  return { findings, held: { keys: 0, seeds: 0, uploads: 0 }, refusals: [] };
}
