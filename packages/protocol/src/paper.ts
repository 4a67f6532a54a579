/** The paper's protocol: Algorithms 1 and 2, unsafe outside experiments. */
export { issuePaperKey } from './paper/authority.ts';
export {
  type PaperConnection,
  type PaperTicket,
  type PaperUpload,
  paperAttribute,
  paperContext,
  paperMessages,
  paperTicketCodec,
} from './paper/messages.ts';
export {
  acceptPaperUpload,
  connectPaper,
  type PaperBuffer,
  type PaperRecord,
  tickPaper,
  unsafePaperBuffer,
} from './paper/server.ts';
export { contributePaper, paperInput } from './paper/user.ts';
