/** BASA in `one-shot` mode behind the interface of the baselines: one message a device, the real cores, as a federation in memory. */
import { type AggregationProtocol, NOBODY_LISTENS, type Observer, type Phase, presentIn } from '@basa/baselines';
import { FIELD, weightScale } from '@basa/masking';
import { isRefused } from '@basa/protocol';
import { InputWords } from '@basa/protocol/wire';
import { OneShotFederation, type OneShotOptions } from '../federation/one-shot-federation.ts';
import type { Environment } from '../federation/world.ts';
import { LEVEL } from './inputs.ts';

const PHASES: readonly Phase[] = [
  {
    name: 'upload',
    user: 'takes the statements of the authorities, masks once for each part, seals its seeds',
    server: 'checks and stores y, has the sealed parts inspected',
  },
  { name: 'close', user: 'nothing', server: 'adds y, asks for votes and for the sums of masks, takes them off' },
];

export interface OneShotProtocolOptions extends Pick<OneShotOptions, 'council' | 'tolerated' | 'guardTools'> {
  readonly seed?: number;
}

/** A device that leaves before `upload` was never there: no party has to do anything about it. */
export function basaOneShot(
  environment: Environment,
  { seed = 1, ...options }: OneShotProtocolOptions = {},
): AggregationProtocol {
  return {
    name: 'BASA one-shot',
    timing: 'asynchronous',
    modulus: FIELD,
    phases: PHASES,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      const present = presentIn(PHASES, gathering, 'upload');
      const level = levelOf(gathering.inputs.length);
      const world = new OneShotFederation(environment, {
        bufferSize: gathering.inputs.length,
        dimension: gathering.inputs[0]?.length ?? 0,
        modulus: FIELD,
        level,
        seed,
        ...options,
      });
      const listening = listenTo(world, observer);
      for (const user of present) {
        const device = world.shooter();
        listening.user = user;
        // The inputs are integers already: they are neither clipped nor rounded, and no party is charged for it.
        const vector = inputOf(world, gathering.inputs[user] as Uint32Array);
        const given = observer.compute('user', 'upload', user, () => device.contribute(undefined, vector));
        if (isRefused(given)) return given;
      }
      observer.compute('server', 'upload', undefined, () => world.shots.inspect());
      const verdict = observer.compute('server', 'close', undefined, () => {
        const ctx = world.shots.form();
        return ctx && world.shots.close(ctx);
      });
      if (verdict === undefined) return { kind: 'refused', reason: 'too-few' };
      if (isRefused(verdict)) return verdict;
      if (verdict.kind === 'quarantine') return { kind: 'refused', reason: verdict.why };
      return { kind: 'sum', sum: verdict.sum, included: present };
    },
  };
}

/** x' of integers. */
function inputOf({ policy }: OneShotFederation, integers: Uint32Array): Uint32Array {
  const vector = new Uint32Array(InputWords.inputElements(policy));
  InputWords.writePrefix(vector, InputWords.sumRules(policy, 0), {
    weight: weightScale(policy.bufferSize, policy.modulus),
    metrics: {},
  });
  InputWords.updateWords(policy, vector).update.set(integers);
  return vector;
}

/** The level at which the sum of this many updates does not wrap around. */
function levelOf(users: number): number {
  return users > 1000 ? LEVEL / 16 : LEVEL;
}

/**
 * Counts the bytes of both directions, and attributes each party's work to its own name. The statements are signed once
 * for all devices.
 */
function listenTo(world: OneShotFederation, observer: Observer): { user: number } {
  const state = { user: 0 };
  const { shots, keepers } = world;
  const shown = shots.newestModel();
  shots.newestModel = () => {
    observer.sent({ phase: 'upload', from: 'server', to: 'user', user: state.user, bytes: shown.length });
    return shown;
  };
  const take = shots.take.bind(shots);
  shots.take = (upload, body) => {
    observer.sent({
      phase: 'upload',
      from: 'user',
      to: 'server',
      user: state.user,
      bytes: upload.length + body.length,
    });
    return observer.compute('server', 'upload', undefined, () => take(upload, body));
  };
  for (const keeper of keepers) {
    const [inspect, vote, release] = [
      keeper.inspect.bind(keeper),
      keeper.vote.bind(keeper),
      keeper.release.bind(keeper),
    ];
    keeper.inspect = (bytes) => observer.compute('authority', 'upload', undefined, () => inspect(bytes));
    keeper.vote = (bytes) => observer.compute('authority', 'close', undefined, () => vote(bytes));
    keeper.release = (bytes) => observer.compute('authority', 'close', undefined, () => release(bytes));
  }
  return state;
}
