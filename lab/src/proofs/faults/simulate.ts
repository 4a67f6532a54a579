/** Runs a simulation against the real cores, to its end; promises.ts defines what must hold then. */
import { DecodeError, toHex } from '@basa/masking';
import { type Ctx, isRefused, millis, type SecureBuffer } from '@basa/protocol';
import { CLOSE_MS, type Environment, Federation, type FederationDevice, OPEN_MS } from '@basa/simulator';
import { CheatingDevice } from './cheating-device.ts';
import { brokenPromises, Notes } from './promises.ts';
import type { Operation, Simulation } from './simulation.ts';

export interface SimulationReport {
  /** Buffers that were closed, and the end of these and the others. */
  readonly filled: number;
  readonly included: number;
  readonly quarantined: number;
  readonly aborted: number;
  readonly updates: number;
  readonly refusals: number;
  /** The promises that did not hold. */
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
  return run.report(run.brokenPromises());
}

class SimulationRun {
  readonly #world: Federation;
  readonly #devices: readonly FederationDevice[];
  readonly #captured: (() => unknown)[][];
  readonly #notes = new Notes();
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
      this.#notes.verdicts.set(toHex(ctx), verdict);
      return verdict;
    });
  }

  #advance(device: FederationDevice, until: 'seat' | 'deposit' | 'key' | 'upload'): void {
    if (device.session?.step === 'abandoned') return;
    this.#try(() => {
      const answer = device.contribute(until);
      this.#notes.see(device);
      return answer;
    });
    this.#notes.see(device);
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

  /** A device gives up an update that it has not sent. If it has sent the update, it waits for the authority's statement. */
  #renew(device: FederationDevice): void {
    const { session } = device;
    if (session === undefined) return;
    if (session.step === 'prepared' || session.step === 'slotted') {
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

  brokenPromises(): readonly string[] {
    return brokenPromises(this.#world, this.#devices, this.#notes);
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
