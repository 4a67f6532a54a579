/** The costs that an experiment needs, and the measurement of costs that are not known yet. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { type AggregationTools, fedmlCode, plainCombinationKernel, publishedCode } from '@basa/baselines';
import type { Model } from '@basa/learning';
import { plainVectorKernel } from '@basa/masking';
import {
  createNodeKeystream,
  createWasmCombinationKernel,
  createWasmVectorKernel,
  nodeRandomBytes,
  nodeSuite,
} from '@basa/runtime/node';
import { type Costs, type Machine, priced } from './costs.ts';
import { durableRecord } from './durable-record.ts';
import { lightSecAggPrices } from './lightsecagg-operations.ts';
import { type ProfileRequest, profileKey, profileOf } from './profiles.ts';
import { calmer, type Sampling, secondLook } from './sampling.ts';
import { abePrices } from './sealing-operations.ts';
import { trainingPrice } from './training-operations.ts';
import { vectorPrices } from './vector-operations.ts';

export interface CodeRequest {
  readonly code: 'published' | 'fedml';
  readonly users: number;
  readonly dimension: number;
  readonly summed: number;
}

export interface CostNeeds {
  readonly dimensions: readonly number[];
  readonly profiles: readonly ProfileRequest[];
  readonly codes: readonly CodeRequest[];
  readonly models: readonly string[];
}

export function codeKey({ code, users, dimension, summed }: CodeRequest): string {
  return `${code} N=${users} d=${dimension} summed=${summed}`;
}

export function allNeeds(needs: readonly CostNeeds[]): CostNeeds {
  return {
    dimensions: [...new Set(needs.flatMap(({ dimensions }) => dimensions))],
    profiles: distinct(
      needs.flatMap(({ profiles }) => profiles),
      profileKey,
    ),
    codes: distinct(
      needs.flatMap(({ codes }) => codes),
      codeKey,
    ),
    models: [...new Set(needs.flatMap(({ models }) => models))],
  };
}

function distinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** The tools of every protocol, the same as on a device. */
export function nodeTools(): AggregationTools {
  return {
    masks: {
      suite: nodeSuite,
      kernel: createWasmVectorKernel() ?? plainVectorKernel(),
      keystream: createNodeKeystream(),
    },
    combinations: createWasmCombinationKernel() ?? plainCombinationKernel(),
    randomBytes: nodeRandomBytes,
  };
}

/** Returns all prices, known and newly measured: `keep` gets the costs after every step. */
export async function measureCosts(
  needs: CostNeeds,
  { sampling: firstLook, known, modelOf, date, step }: MeasureOptions,
  keep: (costs: Costs) => void,
): Promise<Costs> {
  const tools = nodeTools();
  let costs: Costs = {
    machine: known?.machine ?? thisMachine(date),
    clock: 'processor time',
    vectors: {},
    sealing: {},
    profiles: {},
    lightSecAgg: {},
    training: {},
    durable: known?.durable ?? durableRecord(),
    ...known,
  };
  const add = (more: Partial<Costs>): void => {
    costs = { ...costs, ...more };
    keep(costs);
  };
  const missing = <Item>(items: readonly Item[], keyOf: (item: Item) => string, there: object): Item[] =>
    items.filter((item) => !(keyOf(item) in there));
  const sealings = missing(['cp-abe'] as const, String, costs.sealing);
  const dimensions = missing(needs.dimensions, String, costs.vectors);
  const profiles = missing(needs.profiles, profileKey, costs.profiles);
  const codes = missing(needs.codes, codeKey, costs.lightSecAgg);
  const models = missing(needs.models, String, costs.training);
  for (let pass = 0; pass < firstLook.passes; pass++) {
    const sampling = pass === 0 ? firstLook : secondLook(firstLook);
    for (const sealing of sealings) {
      step(`sealing by ${sealing}`);
      add({ sealing: withCalmer(costs.sealing, sealing, await abePrices(sampling)) });
    }
    for (const d of dimensions) {
      step(`vectors of ${d.toLocaleString('en')}`);
      add({ vectors: withCalmer(costs.vectors, String(d), vectorPrices(d, tools, sampling)) });
    }
    for (const request of profiles) {
      if (pass > 0 && request.users > FEW) continue;
      step(profileKey(request));
      const runs = Math.min(sampling.runs, request.users > MANY ? 1 : request.users > FEW ? 3 : sampling.runs);
      const profile = profileOf(request, tools, priced(costs.sealing, 'cp-abe'), runs);
      if (profile !== undefined) add({ profiles: withCalmer(costs.profiles, profileKey(request), profile) });
    }
    for (const request of codes) {
      if (pass > 0 && request.users > MANY) continue;
      step(`LightSecAgg ${codeKey(request)}`);
      const code = (request.code === 'published' ? publishedCode : fedmlCode)(request.users);
      const prices = lightSecAggPrices(code, request.dimension, request.summed, tools, sampling);
      add({ lightSecAgg: withCalmer(costs.lightSecAgg, codeKey(request), prices) });
    }
    for (const model of models) {
      step(`training ${model}`);
      add({ training: withCalmer(costs.training, model, trainingPrice(modelOf(model), sampling)) });
    }
  }
  return costs;
}

function withCalmer<Prices>(
  known: Readonly<Record<string, Prices>>,
  key: string,
  found: Prices,
): Readonly<Record<string, Prices>> {
  const before = known[key];
  return { ...known, [key]: before === undefined ? found : calmer(before, found) };
}

export interface MeasureOptions {
  readonly sampling: Sampling;
  /** Prices of an earlier run, or a part of them: those are not measured again. */
  readonly known?: Partial<Costs> | undefined;
  /** The models of the needs, by their names. */
  modelOf(name: string): Model;
  readonly date: string;
  step(what: string): void;
}

/** With more users than these, a run averages over its users, and takes seconds or minutes. */
const [FEW, MANY] = [20, 64];

function thisMachine(date: string): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    architecture: process.arch,
    cores: availableParallelism(),
    node: process.version,
    load: Math.round(100 * (loadavg()[0] ?? 0)) / 100,
    date,
  };
}
