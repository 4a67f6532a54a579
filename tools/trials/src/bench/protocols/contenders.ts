/** The protocols whose cost is composed, each with and without real sealing. */
import type { AggregationProtocol, AggregationTools } from '@basa/baselines';
import { plainAggregation, secAgg, secAggPlus } from '@basa/baselines';
import type { Meter } from '@basa/experiments';
import { countedSealings } from '@basa/experiments';
import { abeSealings, paperAbeSealings, slotKeySealings } from '@basa/experiments/real-sealings';
import { nodeEnvironment } from '@basa/experiments/simulation';
import { ENGINE } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Environment } from '@basa/simulator';
import { basaSealed, overAttributes, unsafeBasaPaper } from '@basa/simulator';
import type { Charged, VectorHashes } from './composed.ts';
import { counted } from './composed.ts';
import type { SealingPrices } from './prices.ts';
import { sealingPrices } from './prices.ts';

type EngineName = 'slot keys' | 'CP-ABE';
export type EnginePrices = Readonly<Record<EngineName, SealingPrices>>;

export function enginePrices(): EnginePrices {
  return { 'slot keys': sealingPrices(slotKeySealings()), 'CP-ABE': sealingPrices(abeSealings()) };
}

export interface Contender extends Charged {
  readonly name: string;
  /** With expansions and calls of the sealing counted, the calls free of charge. */
  readonly counted: (meter: Meter) => AggregationProtocol;
  /** With nothing left out. */
  readonly real: () => AggregationProtocol;
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
    ...basa(tools, engines['CP-ABE']),
  ];
}

/** A user hashes its input before the deposit and again before it masks it, and the body that it uploads. */
export const SEALED_HASHES: VectorHashes = { user: 3, server: 1 };

function outside({ masks }: AggregationTools): Environment {
  return { ...nodeEnvironment, tools: masks };
}

/** BASA as tasks have it by default, with the expansions of masks counted. */
export function countedSlotKeys(tools: AggregationTools, meter: Meter): AggregationProtocol {
  return basaSealed(outside(counted(tools, meter)), { sealings: slotKeySealings() });
}

/** Slot keys are cheap enough to be timed in the run itself; with CP-ABE the calls are counted and charged. */
function basa(tools: AggregationTools, { seals, opens, issues, ...sizes }: SealingPrices): readonly Contender[] {
  const counting = (meter: Meter): Environment => outside(counted(tools, meter));
  const sealingMs = { seals, opens, issues };
  return [
    {
      name: 'BASA paper (CP-ABE)',
      counted: (meter) => unsafeBasaPaper(counting(meter), { sealings: countedSealings(meter, sizes) }),
      real: () => unsafeBasaPaper(outside(tools), { sealings: paperAbeSealings() }),
      sealingMs,
    },
    {
      name: 'BASA sealed (CP-ABE)',
      counted: (meter) =>
        basaSealed(counting(meter), {
          sealings: overAttributes(nodeSuite, ENGINE.unsafeTransparent, countedSealings(meter, sizes)),
        }),
      real: () => basaSealed(outside(tools), { sealings: abeSealings() }),
      sealingMs,
      hashes: SEALED_HASHES,
    },
    {
      name: 'BASA sealed (slot keys)',
      counted: (meter) => countedSlotKeys(tools, meter),
      real: () => basaSealed(outside(tools), { sealings: slotKeySealings() }),
      hashes: SEALED_HASHES,
    },
  ];
}
