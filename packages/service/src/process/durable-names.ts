/** `@basa/service/durable-names`: what makes files durable, for threads that load nothing of a service besides. */
export { groupFlush } from './group-flush.ts';
export { flushNames } from './private-files.ts';
