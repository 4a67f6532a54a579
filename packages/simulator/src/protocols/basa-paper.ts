/** The paper's BASA behind the interface of the baselines; the position of a user that drops out goes to the next one. */
import { type AggregationProtocol, NOBODY_LISTENS, type Phase, presentIn } from '@basa/baselines';
import { FIELD, packedLength } from '@basa/masking';
import { isRefused, millis, type UserId } from '@basa/protocol';
import { PaperTicket, paperMessages } from '@basa/protocol/paper';
import { PAPER_LEASE_MS, PaperFederation } from '../federation/paper-federation.ts';
import type { Environment, PaperSealings } from '../federation/world.ts';
import { asDelta, LEVEL } from './inputs.ts';

const PHASES: readonly Phase[] = [
  { name: 'connect', user: 'waits for the position', server: 'gives the position and the seeds sealed to it' },
  { name: 'upload', user: 'gets its key, opens and seals seeds, masks', server: 'adds y, files the seeds' },
];

/** UNSAFE, as `paper` mode is. A user that leaves before `upload` holds the position for a lease; then it is assigned again. */
export function unsafeBasaPaper(
  environment: Environment,
  { sealings, seed = 1 }: { readonly sealings?: PaperSealings; readonly seed?: number } = {},
): AggregationProtocol {
  return {
    name: 'BASA paper',
    timing: 'asynchronous',
    modulus: FIELD,
    phases: PHASES,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      const included = presentIn(PHASES, gathering, 'upload');
      if (included.length === 0) return { kind: 'refused', reason: 'too-few' };
      const dimension = gathering.inputs[0]?.length ?? 0;
      const world = new PaperFederation(environment, {
        bufferSize: included.length,
        dimension,
        modulus: FIELD,
        level: LEVEL,
        staleness: { kind: 'constant' },
        seed,
        ...(sealings === undefined ? {} : { sealings }),
      });
      const codec = paperMessages(included.length, world.sealings.sealing);
      for (const user of presentIn(PHASES, gathering, 'connect')) {
        const id = idOf(user);
        const connection = observer.compute('server', 'connect', undefined, () => world.connect(id));
        if (isRefused(connection)) continue; // The buffer is full: its last places went to earlier users.
        const told = codec.connectAnswer.encode(connection).length;
        observer.sent({ phase: 'connect', from: 'server', to: 'user', user, bytes: told });
        if (!included.includes(user)) {
          world.now = millis(world.now + PAPER_LEASE_MS);
          continue;
        }
        const key = world.key.bind(world);
        world.key = (...request) => {
          const answer = observer.compute('authority', 'upload', undefined, () => key(...request));
          const asked = PaperTicket.encode(connection.ticket).length;
          observer.sent({ phase: 'upload', from: 'user', to: 'authority', user, bytes: asked });
          observer.sent({ phase: 'upload', from: 'authority', to: 'user', user, bytes: answer.length });
          return answer;
        };
        const delta = asDelta(gathering.inputs[user] as Uint32Array);
        const prepared = observer.compute('user', 'upload', user, () => world.contribute(id, connection, delta));
        world.key = key;
        const bytes = codec.upload.encode(prepared.upload).length + packedLength(dimension, FIELD);
        observer.sent({ phase: 'upload', from: 'user', to: 'server', user, bytes });
        const answer = observer.compute('server', 'upload', undefined, () => world.upload(id, prepared));
        if (isRefused(answer)) return answer;
      }
      return { kind: 'sum', sum: world.sum, included };
    },
  };
}

function idOf(user: number): UserId {
  return Uint8Array.from({ length: 32 }, (_, n) => (user + 1) >> (8 * (n % 4))) as UserId;
}
