/** Simulates a user's own model and data with virtual devices under any of the protocols: real updates, virtual time. */
import {
  type Damping,
  DEFAULT_DAMPING,
  type Evaluation,
  type Samples,
  type Score,
  scoreOf,
  type Trainer,
} from '@basa/learning';
import {
  CELL,
  type Cell,
  isOneVersion,
  isSynchronous,
  LEVEL,
  needsOf,
  type ProtocolName,
  scheduleCell,
} from '../cells/cell.ts';
import { partiesOf } from '../cells/parties.ts';
import type { Costs } from '../costs/costs.ts';
import { allNeeds, measureCosts } from '../costs/needs.ts';
import { profileKey } from '../costs/profiles.ts';
import { HASTY } from '../costs/sampling.ts';
import { exampleLearned } from '../costs/training-operations.ts';
import type { Delay } from '../timed/delay.ts';
import { trainOrder } from '../training/train-order.ts';
import { type LearnTask, trainUpdate } from '../training/train-update.ts';

/** The protocols as people type them. */
const OWN_PROTOCOLS = {
  none: 'no SA',
  paper: 'BASA paper',
  'one-shot': 'BASA one-shot',
  'one-shot-3-of-4': 'BASA one-shot (3 of 4)',
  secagg: 'SecAgg',
  'secagg+': 'SecAgg+',
  lightsecagg: 'LSA sync',
  'lightsecagg-async': 'LSA async',
} as const satisfies Readonly<Record<string, ProtocolName>>;

type OwnProtocol = keyof typeof OWN_PROTOCOLS;

export interface SimulateOptions {
  readonly trainer: Trainer;
  readonly training: { readonly epochs: number; readonly batchSize: number; readonly learningRate: number };
  /** The examples of each device. */
  readonly shares: readonly Samples[];
  readonly test: Samples;
  readonly protocols: readonly OwnProtocol[];
  /** Devices that train at the same time; the devices of a round in protocols that work in rounds. */
  readonly concurrency: number;
  readonly bufferSize: number;
  readonly delay: Delay;
  /** The share of trips that end before the upload. */
  readonly dropouts: number;
  /** Seconds that a device trains, or as measured here. */
  readonly compute: 'measured' | number;
  readonly versions: number;
  /** The score at which a run ends: the accuracy from 0 to 1, or the first score that the trainer names. */
  readonly target: number;
  readonly seed: number;
  /** The number of runs of each protocol, with this seed and those after it; 1 by default. */
  readonly seeds?: number | undefined;
  /** The server's step; the rate is 1 by default, without momentum. Damping is for buffers only. */
  readonly serverRate?: number | undefined;
  readonly momentum?: number | undefined;
  readonly isAdam?: boolean | undefined;
  readonly damping?: Damping | undefined;
  /** Over-selection: rounds end with this many uploads. */
  readonly first?: number | undefined;
  readonly date: string;
  readonly signal: AbortSignal;
  onMeasure(what: string): void;
  onVersion(version: SimulatedVersion): void;
}

export interface SimulatedVersion {
  readonly protocol: OwnProtocol;
  readonly version: number;
  /** Virtual time. */
  readonly seconds: number;
  /** On the test set: the accuracy, or the first score that the trainer names. */
  readonly score: Score;
  readonly loss: number;
  readonly trainLoss: number;
  readonly updates: number;
}

/** One protocol from its first version to its last. */
export interface OwnRun {
  readonly protocol: OwnProtocol;
  readonly seed: number;
  readonly curve: readonly SimulatedVersion[];
  readonly isReached: boolean;
  readonly trips: number;
  readonly droppedOut: number;
  readonly meanAge: number;
  /** Whether the updates of a sum were trained on one version of the model: the rule of real tasks of this protocol. */
  readonly versionsInASum: 'one' | 'mixed';
  /** The number of sums that the real parties of the protocol made, bit for bit equal to the plain ones. */
  readonly partySums: number;
  readonly clipped: number;
  readonly parameters: Float32Array;
}

/** The real parties sum only every tenth version: they are the slow part of small models. */
const PARTIES_EVERY = 10;

/** Throws a `RangeError` if a protocol, the model or its data cannot be simulated with these options. */
export async function simulateOwn(options: SimulateOptions): Promise<readonly OwnRun[]> {
  tryOneStep(options);
  const cells = options.protocols.map((protocol) => ({ protocol, cell: cellOf(protocol, options) }));
  const costs = await costsOf(
    cells.map(({ cell }) => cell),
    options,
  );
  for (const { protocol, cell } of cells) checkDropouts(protocol, cell, costs);
  const runs: OwnRun[] = [];
  for (const { protocol, cell } of cells)
    for (let seed = options.seed; seed < options.seed + (options.seeds ?? 1); seed++)
      runs.push(await simulate(protocol, { ...cell, seed }, costs, { ...options, seed }));
  return runs;
}

/** Fails immediately if the trainer refuses the options, and not after minutes of measuring. */
function tryOneStep({ trainer, training: { batchSize, learningRate }, shares, test, seed }: SimulateOptions): void {
  const [start, { dimension }] = [trainer.init(seed), trainer.model];
  for (const samples of new Map(shares.map((share) => [share.dataset, share])).values()) {
    const { delta } = trainer.train({ start, samples, steps: 1, batchSize, learningRate, seed });
    const wrong = delta.findIndex((value) => !Number.isFinite(value));
    if (delta.length !== dimension)
      throw new RangeError(
        `the trainer returned an update of ${delta.length} numbers, but the model has ${dimension} parameters; return one number for each parameter`,
      );
    if (wrong >= 0)
      throw new RangeError(
        `number ${wrong} of the first update is ${delta[wrong]}; lower the learning rate, or check the data`,
      );
  }
  if (scoreOf(trainer.evaluate(start, test)) === undefined)
    throw new RangeError(
      'evaluate() of the trainer must return loss, samples and a score under its name, such as { loss, samples, accuracy }; a larger score must be better',
    );
}

/** A round of few devices may be too small for a protocol to lose one of them. */
function checkDropouts(protocol: OwnProtocol, cell: Cell, { profiles }: Costs): void {
  if (needsOf(cell).profiles.every((request) => profileKey(request) in profiles)) return;
  throw new RangeError(
    `${protocol} with ${cell.concurrency} devices in a round does not tolerate drop-outs; raise --at-a-time, or remove --drop-out and --first`,
  );
}

async function simulate(protocol: OwnProtocol, cell: Cell, costs: Costs, options: SimulateOptions): Promise<OwnRun> {
  const { trainer, signal, seed, serverRate = 1, momentum = 0, isAdam = false, damping = DEFAULT_DAMPING } = options;
  const task = taskOf(options);
  const { order, times } = scheduleCell(cell, costs, task.countOf);
  const curve: SimulatedVersion[] = [];
  let parameters = trainer.init(seed);
  const { reached, partySums, clipped } = await trainOrder(
    {
      order,
      seed,
      step: { rate: serverRate, momentum, isAdam, ...(!isSynchronous(cell) && { damping }) },
      ...(protocol !== 'none' && { level: LEVEL }),
      target: options.target,
      parties: (users) => [partiesOf(cell.protocol, users)].filter((one) => one !== undefined),
      partiesEvery: PARTIES_EVERY,
    },
    task,
    trainer,
    async (request) => {
      await new Promise((resolve) => setImmediate(resolve)); // lets Ctrl-C take effect between two updates
      signal.throwIfAborted();
      return trainUpdate(request, task, trainer);
    },
    async (made) => {
      const { version, trainLoss, evaluation } = made;
      const score = scoreOf(evaluation as Evaluation) as Score; // every version is evaluated, and the first step was checked
      const seconds = times[version - 1] ?? Number.NaN;
      const updates = order[version - 1]?.length ?? 0;
      parameters = made.parameters.slice();
      const found = { protocol, version, seconds, score, loss: evaluation?.loss ?? Number.NaN, trainLoss, updates };
      curve.push(found);
      options.onVersion(found);
    },
  );
  const isReached = reached !== undefined;
  const { trips, droppedOut, meanAge } = scheduleCell(endingAt(cell, Math.max(1, curve.length)), costs, task.countOf);
  const met = { trips, droppedOut, meanAge, partySums, clipped };
  const versionsInASum = isSynchronous(cell) || isOneVersion(cell) ? 'one' : 'mixed';
  return { protocol, seed, curve, isReached, ...met, versionsInASum, parameters };
}

/** The same virtual time, ending at this version. */
function endingAt(cell: Cell, version: number): Cell {
  return { ...cell, task: { ...cell.task, cap: { buffers: version, rounds: version } } };
}

function cellOf(protocol: OwnProtocol, options: SimulateOptions): Cell {
  const { trainer, shares, versions, concurrency, bufferSize, delay, dropouts, compute, seed, first } = options;
  return {
    ...CELL,
    protocol: OWN_PROTOCOLS[protocol],
    task: {
      users: shares.length,
      dimension: trainer.model.dimension,
      charged: trainer.model.name,
      cap: { buffers: versions, rounds: versions },
    },
    concurrency,
    bufferSize,
    delay,
    dropouts,
    compute: compute === 'measured' ? compute : { secondsATrip: compute },
    seed,
    ...(first !== undefined && { end: { first } }),
  };
}

/** Measured within seconds on this machine: for a quick look, not for a table. */
async function costsOf(cells: readonly Cell[], options: SimulateOptions): Promise<Costs> {
  const { trainer, training, shares, compute, date, onMeasure: step } = options;
  const needs = { ...allNeeds(cells.map(needsOf)), models: [] };
  const costs = await measureCosts(needs, { sampling: HASTY, modelOf: () => trainer.model, date, step }, () => {});
  const [share] = shares;
  if (compute !== 'measured' || share === undefined) return costs;
  step(`training ${trainer.model.name}`);
  const { ms, spread } = exampleLearned(trainer, share, training.batchSize, HASTY);
  return { ...costs, training: { ...costs.training, [trainer.model.name]: { ms: training.epochs * ms, spread } } };
}

function taskOf({ trainer, training, shares, test, target }: SimulateOptions): LearnTask {
  const shareOf = (user: number): Samples => {
    const share = shares[user];
    if (share === undefined) throw new RangeError(`there is no device ${user}`);
    return share;
  };
  return {
    model: trainer.model,
    users: shares.length,
    ...training,
    target,
    evaluateEvery: 1,
    countOf: (user) => shareOf(user).indices.length,
    samplesOf: shareOf,
    quickTest: test,
    wholeTest: test,
    about: '',
  };
}
