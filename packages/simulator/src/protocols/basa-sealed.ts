/** BASA in `sealed` mode behind the interface of the baselines: the real cores, as a federation in memory. */
import {
  type AggregationProtocol,
  NOBODY_LISTENS,
  type Observer,
  type Party,
  type Phase,
  presentIn,
} from '@basa/baselines';
import { FIELD } from '@basa/masking';
import { drawnBufferCodec, isRefused, seatRequestCodec } from '@basa/protocol';
import type { FederationDevice } from '../federation/device.ts';
import { Federation, type FederationOptions } from '../federation/federation.ts';
import type { Environment, Sealings } from '../federation/world.ts';
import { asDelta, LEVEL } from './inputs.ts';

const PHASES: readonly Phase[] = [
  { name: 'deposit', user: 'takes a seat, seals a seed for each slot', server: 'assigns a slot, files the seeds' },
  {
    name: 'upload',
    user: 'gets its key, opens and backs up seeds, seals its own, masks',
    server: 'checks and stores y',
  },
  {
    name: 'close',
    user: 'nothing: nobody has to come back',
    server: 'opens self seeds and the backups about drop-outs',
  },
];

export interface SealedOptions extends Pick<FederationOptions, 'council'> {
  /** With an issuer for each authority. */
  readonly sealings?: Sealings;
  readonly seed?: number;
}

/** A device that leaves before `upload` already holds its key: the worst moment for the others. */
export function basaSealed(
  environment: Environment,
  { sealings, council, seed = 1 }: SealedOptions = {},
): AggregationProtocol {
  return {
    name: 'BASA sealed',
    timing: 'asynchronous',
    modulus: FIELD,
    phases: PHASES,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      const there = presentIn(PHASES, gathering, 'deposit');
      const uploading = new Set(presentIn(PHASES, gathering, 'upload'));
      const world = new Federation(environment, {
        bufferSize: gathering.inputs.length,
        dimension: gathering.inputs[0]?.length ?? 0,
        modulus: FIELD,
        level: LEVEL,
        seed,
        ...(sealings === undefined ? {} : { sealings }),
        ...(council === undefined ? {} : { council }),
      });
      const listening = listenTo(world, observer);
      const owners: number[] = [];
      let last: FederationDevice | undefined;
      for (const user of there) {
        const device = world.device();
        listening.user = user;
        const delta = asDelta(gathering.inputs[user] as Uint32Array);
        const deposited = observer.compute('user', 'deposit', user, () => device.contribute('deposit', delta));
        if (isRefused(deposited)) return deposited;
        owners.push(user);
        last = device;
        const until = uploading.has(user) ? 'upload' : 'key';
        const done = observer.compute('user', 'upload', user, () => device.contribute(until, delta));
        if (isRefused(done)) return done;
      }
      if (last === undefined) return { kind: 'refused', reason: 'too-few' };
      const { ctx } = last;
      const frozen = world.server.freeze(ctx, 'stalled');
      if (isRefused(frozen)) return frozen;
      const verdict = observer.compute('server', 'close', undefined, () => world.server.finish(ctx, 'stalled'));
      if (verdict.kind === 'quarantine') return { kind: 'refused', reason: verdict.why };
      return { kind: 'sum', sum: verdict.sum, included: frozen.accepted.map((slot) => owners[slot] as number) };
    },
  };
}

/** Counts the bytes of both directions, and attributes each party's work to its own name. */
function listenTo(world: Federation, observer: Observer): { user: number } {
  const state = { user: 0 };
  const { server, authorities } = world;
  const listen = <Answer>(phase: string, to: Party, serve: (bytes: Uint8Array) => Answer) => {
    return (bytes: Uint8Array): Answer => {
      observer.sent({ phase, from: 'user', to, user: state.user, bytes: bytes.length });
      const answer = observer.compute(to, phase, undefined, () => serve(bytes));
      const back = answer instanceof Uint8Array ? answer.length : 0;
      observer.sent({ phase, from: to, to: 'user', user: state.user, bytes: back });
      return answer;
    };
  };
  const seat = server.seat.bind(server);
  server.seat = (request) => {
    const asked = seatRequestCodec.encode(request).length;
    observer.sent({ phase: 'deposit', from: 'user', to: 'server', user: state.user, bytes: asked });
    const answer = observer.compute('server', 'deposit', undefined, () => seat(request));
    const bytes = isRefused(answer) ? 0 : drawnBufferCodec.encode(answer).length;
    observer.sent({ phase: 'deposit', from: 'server', to: 'user', user: state.user, bytes });
    return answer;
  };
  server.deposit = listen('deposit', 'server', server.deposit.bind(server));
  server.upload = listen('upload', 'server', server.upload.bind(server));
  for (const authority of authorities) {
    authority.issueKey = listen('upload', 'authority', authority.issueKey.bind(authority));
    const offer = authority.offer.bind(authority);
    const [drawBuffer, close] = [authority.drawBuffer.bind(authority), authority.close.bind(authority)];
    authority.offer = (bytes) => observer.compute('authority', 'deposit', undefined, () => offer(bytes));
    authority.drawBuffer = (bytes) => observer.compute('authority', 'deposit', undefined, () => drawBuffer(bytes));
    authority.close = (bytes) => observer.compute('authority', 'close', undefined, () => close(bytes));
  }
  return state;
}
