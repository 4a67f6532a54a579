/** `@basa/service/durable-names`: makes files durable, for threads that load nothing else of a service. */
export { groupFlush } from './group-flush.ts';
export { flushNames, makePrivateFolder } from './private-files.ts';
