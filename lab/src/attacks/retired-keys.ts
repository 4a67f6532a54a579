/** T1: keys of authorities that were replaced are stolen, and speak for the old term to a device that was offline. */
import {
  isRefused,
  type Millis,
  millis,
  type NewestModel,
  NO_TERMS,
  type Refused,
  receiveLine,
  receiveNewest,
} from '@basa/protocol';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { COUNCIL, councilWorld } from './council-scene.ts';

const WAIT_MS = 7 * 24 * 3_600_000;

export const T1: Attack = {
  id: 'T1',
  schedule:
    'a device is offline for three waits; three of four authorities are replaced meanwhile, and their old keys are stolen; the server hides the new terms, and the thief signs the newest model in the old term',
  mutant: 'a device that does not note when it last heard from its authorities',
  broken: (setting) => spokenTo(setting, undefined),
  sealed: (setting) => spokenTo(setting, millis(0)),
};

function spokenTo(setting: AttackSetting, heardAt: Millis | undefined): AttackResult {
  const { suite } = setting.environment.tools;
  const world = councilWorld(setting, { succession: { waitMs: WAIT_MS, recoveryHash: undefined } });
  const { policy, task } = world;
  const now = millis(COUNCIL.threshold * WAIT_MS);
  const followed = receiveLine({ suite, now }, { ...NO_TERMS, heardAt }, { policy, terms: [] });
  if (isRefused(followed)) return resultOf(followed);
  const nonce = world.randomBytes(16);
  const question = { suite, council: followed.policy, task, nonce, isPast: () => false };
  const stolen = world.authorities.slice(0, COUNCIL.threshold);
  const told = stolen.map(({ core }, authority) => ({
    authority,
    answer: core.showNewestModel(task, nonce) as NewestModel,
  }));
  return resultOf(receiveNewest(question, world.device(), told).answer);
}

function resultOf(answer: object | Refused): AttackResult {
  const held = { keys: 0, seeds: 0, uploads: 0 };
  return isRefused(answer)
    ? { findings: [], held, refusals: [{ by: 'user', reason: answer.reason }] }
    : { findings: ['stolen keys speak for the authorities of a device'], held, refusals: [] };
}
