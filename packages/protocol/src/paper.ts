/** The paper's protocol: Algorithms 1 and 2, unsafe outside experiments. */
export { issuePaperKey } from './paper/authority.ts';
export {
  type PaperConnection,
  PaperTicket,
  type PaperUpload,
  paperAttribute,
  paperContext,
  paperMessages,
} from './paper/messages.ts';
export * as PaperServer from './paper/server.ts';
export { contributePaper, paperInput } from './paper/user.ts';
