/** Q2: one of four authorities signs votes for another close, and one is a little slow, so only two votes for the close arrive early. */
import {
  type CloseAnswerOf,
  type CloseRequest,
  closeSteps,
  isCloseAnswer,
  isRefused,
  isUsefulAnswer,
  type SecureBuffer,
} from '@basa/protocol';
import { type Federation, granted } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import {
  type Arrival,
  COUNCIL,
  contributed,
  councilWorld,
  inTime,
  LIAR,
  otherClose,
  stopping,
} from './council-scene.ts';

/** The time for which the server waits for a fourth answer once it has three. */
const GRACE_MS = 500;
const SLOW = 3;
const SLOW_MS = 700;
const ATTEMPTS = 4;

export const Q2: Attack = {
  id: 'Q2',
  schedule:
    'a buffer of four authorities is full; one authority always signs a vote for another close; another authority answers 0.7 s later than the rest',
  mutant: 'a server that counts every signed answer, even if it is for another close',
  stoppedBy: 'only a vote for this close counts, and the server waits for the slow authority',
  broken: (setting) => closedBy(setting, isCloseAnswer),
  sealed: (setting) => closedBy(setting, (ports, buffer, one, request) => isUsefulAnswer(ports, buffer, request, one)),
};

type Judge = (
  ports: Federation['server']['ports'],
  buffer: SecureBuffer,
  one: CloseAnswerOf,
  request: CloseRequest,
) => boolean;

function closedBy(setting: AttackSetting, judge: Judge): AttackResult {
  const world = councilWorld(setting);
  const [{ ctx }] = contributed(world) as [ReturnType<Federation['device']>];
  granted(world.server.freeze(ctx));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    if (isClosed(world, world.server.buffer(ctx), judge)) return stopping([]);
  return stopping(['no buffer closes']);
}

function isClosed({ authorities, server }: Federation, buffer: SecureBuffer, judge: Judge): boolean {
  const steps = closeSteps(server.ports, buffer);
  let next = steps.next();
  while (next.done !== true) {
    const request = next.value;
    const arrivals = authorities.flatMap((one, authority): Arrival<CloseAnswerOf>[] => {
      const said = one.close(one.messages.closeRequest.encode(request));
      if (isRefused(said)) return [];
      const answer = authority === LIAR ? otherClose(one, said) : said;
      return [{ atMs: authority === SLOW ? SLOW_MS : authority, answer: { authority, answer } }];
    });
    const taken = inTime(arrivals, {
      isGood: (one) => judge(server.ports, buffer, one, request),
      isEnough: ({ length }) => length >= COUNCIL.threshold,
      graceMs: GRACE_MS,
    });
    next = steps.next(taken);
  }
  return !isRefused(next.value);
}
