/** The default mode by its roles: device, server and authority. docs/protocol.md describes it. */
export * as Admission from './one-shot/admission.ts';
export * as AuthorityRole from './one-shot/authority.ts';
export * as Batching from './one-shot/batching.ts';
export * as DeviceRole from './one-shot/device.ts';
export * as Epochs from './one-shot/epochs.ts';
export { type BuiltInput, buildInput, buildReport } from './one-shot/input.ts';
export * as Ledger from './one-shot/ledger.ts';
export * as Parts from './one-shot/parts.ts';
export { leastOfVersion } from './one-shot/rules.ts';
export * as ServerRole from './one-shot/server.ts';
export * as Sums from './one-shot/sums.ts';
