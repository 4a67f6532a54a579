/** The protocols whose cost is composed, each with and without real sealing. */
import type { AggregationProtocol, AggregationTools } from '@basa/baselines';
import { plainAggregation, secAgg, secAggPlus } from '@basa/baselines';
import type { Meter } from '@basa/experiments';
import { countedSealings } from '@basa/experiments';
import { abeSealings, identitySealings } from '@basa/experiments/real-sealings';
import { nodeEnvironment } from '@basa/experiments/simulation';
import type { Environment, Sealings } from '@basa/simulator';
import { basaSealed, unsafeBasaPaper } from '@basa/simulator';
import type { SealingCosts } from './composed.ts';
import { counted } from './composed.ts';
import type { SealingPrices } from './prices.ts';
import { sealingPrices } from './prices.ts';

const ENGINES = ['CP-ABE', 'identity'] as const;
type EngineName = (typeof ENGINES)[number];
export type EnginePrices = Readonly<Record<EngineName, SealingPrices>>;

const SEALINGS: Readonly<Record<EngineName, () => Sealings>> = { 'CP-ABE': abeSealings, identity: identitySealings };

export function enginePrices(): EnginePrices {
  return { 'CP-ABE': sealingPrices(abeSealings()), identity: sealingPrices(identitySealings()) };
}

export interface Contender {
  readonly name: string;
  /** With expansions and calls of the sealing counted, the calls free of charge. */
  readonly counted: (meter: Meter) => AggregationProtocol;
  /** With nothing left out. */
  readonly real: () => AggregationProtocol;
  readonly sealingMs?: SealingCosts;
}

export function contenders(dropouts: number, tools: AggregationTools, engines: EnginePrices): readonly Contender[] {
  const risk = { corrupt: 0.05, dropped: Math.max(0.05, dropouts) };
  const baseline = (name: string, make: (tools: AggregationTools) => AggregationProtocol): Contender => ({
    name,
    counted: (meter) => make(counted(tools, meter)),
    real: () => make(tools),
  });
  return [
    baseline('plain', plainAggregation),
    baseline('SecAgg', secAgg),
    baseline('SecAgg+', (from) => secAggPlus(from, risk)),
    basa('BASA paper', unsafeBasaPaper, 'CP-ABE', tools, engines),
    ...ENGINES.map((engine) => basa('BASA sealed', basaSealed, engine, tools, engines)),
  ];
}

function basa(
  mode: string,
  make: typeof basaSealed,
  engine: EngineName,
  tools: AggregationTools,
  engines: EnginePrices,
): Contender {
  const { seals, opens, issues } = engines[engine];
  const outside = ({ masks }: AggregationTools): Environment => ({ ...nodeEnvironment, tools: masks });
  return {
    name: `${mode}, ${engine}`,
    counted: (meter) => make(outside(counted(tools, meter)), { sealings: countedSealings(meter, engines[engine]) }),
    real: () => make(outside(tools), { sealings: SEALINGS[engine]() }),
    sealingMs: { seals, opens, issues },
  };
}
