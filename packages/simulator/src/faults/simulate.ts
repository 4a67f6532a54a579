/**
 * Carries out a simulation against the real cores and holds it to what a federation promises: every opened sum is the
 * sum of the accepted one-hot inputs, or the buffer is quarantined and a cheat is in it; nothing acknowledged is lost,
 * none is counted twice, no honest device is blamed, and nothing but a refusal is thrown.
 */
import { DecodeError, toHex } from '@basa/masking';
import type { BufferSlot, Ctx, Outcome, Refused, SecureBuffer, SumVerdict } from '@basa/protocol';
import { abandonSession, millis } from '@basa/protocol';
import { CLOSE_MS, Federation, OPEN_MS } from '../federation.ts';
import type { FederationDevice } from '../federation-device.ts';
import type { Environment } from '../world.ts';
import { CheatingDevice } from './cheating-device.ts';
import type { Operation, Simulation } from './simulation.ts';

export interface SimulationReport {
  /** Buffers that were closed, and how they and the others ended. */
  readonly filled: number;
  readonly included: number;
  readonly quarantined: number;
  readonly aborted: number;
  readonly updates: number;
  readonly refusals: number;
  /** What was promised and did not hold. */
  readonly problems: readonly string[];
}

export function simulate(environment: Environment, simulation: Simulation): SimulationReport {
  const run = new SimulationRun(environment, simulation);
  try {
    for (const operation of simulation.operations) run.carryOut(operation);
    run.settle();
  } catch (error) {
    return run.report([`it threw ${error instanceof Error ? error.message : String(error)}`]);
  }
  return run.report(run.problems());
}

class SimulationRun {
  readonly #world: Federation;
  readonly #devices: readonly FederationDevice[];
  readonly #captured: (() => unknown)[][];
  readonly #verdicts = new Map<string, SumVerdict>();
  /** Which update lies in which deposit: by join tag. */
  readonly #updates = new Map<string, string>();
  readonly #acknowledged = new Set<string>();
  #refusals = 0;

  constructor(environment: Environment, { seed, bufferSize, minimum, devices }: Simulation) {
    this.#world = new Federation(environment, { bufferSize, minimum, dimension: devices.length, seed });
    this.#devices = devices.map((cheat) => {
      if (cheat === undefined) return this.#world.device();
      const device = new CheatingDevice(this.#world, this.#world.devices.length, this.#world.signer(), cheat);
      this.#world.devices.push(device);
      return device;
    });
    this.#captured = devices.map(() => []);
  }

  carryOut(operation: Operation): void {
    const world = this.#world;
    switch (operation.kind) {
      case 'advance':
        this.#advance(this.#devices[operation.device] as FederationDevice, operation.until);
        break;
      case 'send':
        this.#send(operation.device);
        break;
      case 'replay':
        for (const send of this.#captured[operation.device] ?? []) this.#try(send);
        break;
      case 'renew':
        this.#renew(this.#devices[operation.device] as FederationDevice);
        break;
      case 'lose-reply':
        world.loseReplies.add(operation.step);
        break;
      case 'crash':
        world.crashIn = operation.after;
        break;
      case 'wait':
        world.now = millis(world.now + operation.ms);
        break;
      case 'tick':
        this.#try(() => world.call('tick', () => world.server.tick()));
        break;
      case 'restart':
        if (operation.party === 'authority') world.authority.restart();
        else this.#try(() => world.call('restart', () => world.server.restart(operation.downtimeMs)));
        break;
      case 'lose-record': {
        const name = [...world.server.stored.keys()][operation.buffer];
        if (name !== undefined) world.server.stored.get(name)?.records.pop();
        world.server.restart();
        break;
      }
      default:
        this.#onBuffer(operation);
        break;
    }
  }

  #onBuffer({ kind, buffer: number, ...rest }: Extract<Operation, { buffer: number }>): void {
    const world = this.#world;
    const buffer = [...world.server.buffers.values()][number];
    if (buffer === undefined) return;
    const why = 'why' in rest ? rest.why : 'resolved';
    if (kind === 'freeze') this.#try(() => world.call('freeze', () => world.server.freeze(buffer.ctx, why)));
    else if (kind === 'abort') this.#try(() => world.call('abort', () => world.server.abort(buffer.ctx)));
    else this.#finish(buffer.ctx, why);
  }

  #finish(ctx: Ctx, why: 'resolved' | 'stalled' | 'expired'): void {
    const { server } = this.#world;
    const { status } = server.buffer(ctx);
    if (status !== 'filling' && status !== 'frozen' && status !== 'granted') return;
    this.#try(() => {
      const frozen = this.#world.call('freeze', () => server.freeze(ctx, why));
      if (isRefused(frozen)) return frozen;
      const verdict = server.finish(ctx, why);
      this.#verdicts.set(toHex(ctx), verdict);
      return verdict;
    });
  }

  #advance(device: FederationDevice, until: 'seat' | 'deposit' | 'key' | 'upload'): void {
    if (device.session?.step === 'abandoned') return;
    this.#try(() => {
      const answer = device.contribute(until);
      this.#note(device);
      return answer;
    });
    this.#note(device);
  }

  /** Which update went where, and which of them were acknowledged. */
  #note({ session, deltaId }: FederationDevice): void {
    if (session === undefined) return;
    const tag = toHex(session.member.joinTag);
    this.#updates.set(tag, toHex(deltaId));
    if (session.step === 'acknowledged') this.#acknowledged.add(tag);
  }

  #send(number: number): void {
    const device = this.#devices[number] as FederationDevice;
    const { server, authority } = this.#world;
    const step = device.session?.step;
    if (step !== 'prepared' && step !== 'slotted' && step !== 'frozen') return;
    const bytes =
      step === 'prepared'
        ? device.depositBytes()
        : step === 'slotted'
          ? device.keyRequestBytes()
          : device.uploadBytes();
    const send = () =>
      this.#world.call<unknown>('send', () =>
        step === 'prepared'
          ? server.deposit(bytes)
          : step === 'slotted'
            ? authority.issueKey(bytes)
            : server.upload(bytes),
      );
    this.#captured[number]?.push(send);
    this.#try(send);
  }

  /** What was not sent is left for good; what was sent waits for the authority's word. */
  #renew(device: FederationDevice): void {
    const { session } = device;
    if (session === undefined) return;
    if (session.step === 'prepared' || session.step === 'slotted') {
      abandonSession(device.ports, session, 'abandoned');
      device.leave();
      return;
    }
    if (session.step === 'abandoned') {
      device.leave();
      return;
    }
    const released = this.#world.call('outcome', () => device.release());
    if (released.kind === 'included') device.newUpdate();
    if (released.kind === 'free') device.leave();
  }

  /** Faults end, time runs out, and everything that is still open is brought to its end. */
  settle(): void {
    const world = this.#world;
    world.crashIn = undefined;
    world.loseReplies.clear();
    for (const { ctx } of [...world.server.buffers.values()]) this.#finish(ctx, 'stalled');
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    world.server.tick();
    for (const { ctx, status } of [...world.server.buffers.values()]) {
      if (status === 'filling' || status === 'frozen') this.#try(() => world.server.abort(ctx));
    }
  }

  problems(): readonly string[] {
    const buffers = [...this.#world.server.buffers.values()];
    return [...buffers.flatMap((buffer, n) => this.#bufferProblems(buffer, n)), ...this.#countProblems(buffers)];
  }

  #bufferProblems(buffer: SecureBuffer, number: number): string[] {
    const outcome = this.#world.authority.outcome(buffer.ctx);
    const name = `buffer ${number}`;
    const lost = buffer.slots.filter((slot) => slot.status === 'accepted' && !hasFate(buffer, slot, outcome));
    const problems = lost.map(
      ({ ticket }) => `${name}: slot ${ticket.slot} is lost (server ${buffer.status}, authority ${outcome.status})`,
    );
    const verdict = this.#verdicts.get(toHex(buffer.ctx));
    const accepted = buffer.accepted.map((slot) => this.#deviceOf(buffer.slots[slot] as BufferSlot));
    const hasCheat = accepted.some((device) => device instanceof CheatingDevice);
    if (buffer.status === 'quarantined') {
      if (!hasCheat) problems.push(`${name}: quarantined, and no cheat is in it`);
      for (const slot of blamed(verdict)) {
        const device = this.#deviceOf(buffer.slots[slot] as BufferSlot);
        if (!(device instanceof CheatingDevice)) problems.push(`${name}: honest device ${device.number} is blamed`);
      }
    }
    if (buffer.status === 'included' && verdict?.kind === 'good') {
      const expected = this.#devices.map((device) => (accepted.includes(device) ? 1 : 0));
      const sum = [...verdict.sum];
      if (sum.join() !== expected.join())
        problems.push(`${name}: the sum is ${sum.join(' ')} instead of ${expected.join(' ')}`);
    }
    if (buffer.status === 'included' && verdict?.kind !== 'good') problems.push(`${name}: included without a good sum`);
    return problems;
  }

  #countProblems(buffers: readonly SecureBuffer[]): string[] {
    const problems: string[] = [];
    const included = buffers.filter(({ status }) => status === 'included');
    const counted = new Map<string, number>();
    for (const { accepted, slots } of included) {
      for (const slot of accepted) {
        const update = this.#updates.get(toHex((slots[slot] as BufferSlot).ticket.joinTag));
        if (update === undefined) problems.push(`slot ${slot} holds an update nobody gave`);
        else counted.set(update, (counted.get(update) ?? 0) + 1);
      }
    }
    for (const [update, count] of counted) if (count > 1) problems.push(`update ${update} was counted ${count} times`);
    const kept = new Set(
      buffers.flatMap(({ slots }) =>
        slots.flatMap(({ status, ticket }) => (status === 'accepted' ? [toHex(ticket.joinTag)] : [])),
      ),
    );
    for (const tag of this.#acknowledged)
      if (!kept.has(tag)) problems.push(`an acknowledged update is not there (${tag.slice(0, 8)})`);
    const { models } = this.#world.server;
    if (models.length !== included.length + 1)
      problems.push(`${models.length - 1} models of ${included.length} buffers`);
    return problems;
  }

  #deviceOf({ user }: BufferSlot): FederationDevice {
    const device = this.#devices.find((candidate) => toHex(candidate.user) === toHex(user));
    if (device === undefined) throw new Error('a slot of nobody');
    return device;
  }

  report(problems: readonly string[]): SimulationReport {
    const buffers = [...this.#world.server.buffers.values()];
    const count = (wanted: SecureBuffer['status']) => buffers.filter(({ status }) => status === wanted).length;
    const [included, quarantined, aborted] = [count('included'), count('quarantined'), count('aborted')];
    return {
      filled: included + quarantined,
      included,
      quarantined,
      aborted,
      updates: buffers.reduce((sum, { status, accepted }) => sum + (status === 'included' ? accepted.length : 0), 0),
      refusals: this.#refusals,
      problems,
    };
  }

  /** A refusal is an answer, as a value or as the federation throws it; hostile bytes are a DecodeError. */
  #try(action: () => unknown): void {
    try {
      if (isRefused(action())) this.#refusals++;
    } catch (error) {
      const isExpected =
        error instanceof DecodeError || (error instanceof Error && error.message.startsWith('refused: '));
      if (!isExpected) throw error;
      this.#refusals++;
    }
  }
}

function isRefused(answer: unknown): answer is Refused {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'refused';
}

/** Included, excluded, aborted or quarantined, and the authority says the same. */
function hasFate({ status, accepted }: SecureBuffer, { ticket }: BufferSlot, outcome: Outcome): boolean {
  if (status === 'aborted') return outcome.status === 'aborted';
  const isIn = accepted.includes(ticket.slot);
  const isInAtAuthority = outcome.accepted.some(({ slot }) => slot === ticket.slot);
  return (status === 'included' || status === 'quarantined') && outcome.status === 'closed' && isIn === isInAtAuthority;
}

/** Slots that the opening names. */
function blamed(verdict: SumVerdict | undefined): readonly number[] {
  const [, slots] = /^slots ([\d,]+) cheated$/.exec(verdict?.kind === 'quarantine' ? verdict.why : '') ?? [];
  return slots?.split(',').map(Number) ?? [];
}
