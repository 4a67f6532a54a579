/** The protocol over HTTP: addresses, signed requests, problem documents, and the stream of a running task. */
export * as Live from './http/live.ts';
export { type Gathering, gatheringText } from './http/live.ts';
export * as Network from './http/network.ts';
export * as Problems from './http/problems.ts';
export { type ProblemCode, refusalText } from './http/problems.ts';
export {
  AUTHORITY_PATH,
  HEADER,
  pieceStatement,
  ROLES_PATH,
  requestStatement,
  SERVER_PATH,
  signatureHeaders,
} from './http/requests.ts';
