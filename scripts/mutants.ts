/** Small wrong versions of a source: one condition, call or record changed in each. */
import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The whole source with the change. */
  readonly source: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator?: string;
  readonly name?: string;
  readonly computed?: boolean;
  readonly left?: Node;
  readonly right?: Node;
  readonly argument?: Node;
  readonly test?: Node;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly key?: Node;
  readonly value?: unknown;
}

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const OTHER_OPERATOR: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
};
const OTHER_METHOD: Readonly<Record<string, string>> = { every: 'some', some: 'every' };

/** Every mutant of one file, in the order of its lines. */
export function mutantsOf(file: string): readonly Mutant[] {
  const text = readFileSync(file, 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  return changesBelow(program as unknown as Node, text)
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, text: after }) => ({
      file,
      line: text.slice(0, start).split('\n').length,
      before: text.slice(start, end),
      after,
      source: text.slice(0, start) + after + text.slice(end),
    }));
}

/** Types and imports are no behaviour; the conditions of loops could make endless ones. */
function changesBelow(node: Node, text: string): Change[] {
  if (node.type.startsWith('TS') && !('expression' in node)) return [];
  if (node.type === 'ImportDeclaration') return [];
  const children = Object.values(node)
    .flatMap((field) => (Array.isArray(field) ? field : [field]))
    .filter(isNode);
  return [...changesOf(node, text), ...children.flatMap((child) => changesBelow(child, text))];
}

function changesOf(node: Node, text: string): Change[] {
  const { left, right, operator = '', argument, test, key, value } = node;
  const textOf = (part: Node | undefined): string => (part === undefined ? '' : text.slice(part.start, part.end));
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      if (operator === '??') return [{ ...spanOf(node), text: `(${textOf(left)} ?? undefined)` }];
      const other = OTHER_OPERATOR[operator];
      return other === undefined ? [] : [{ ...spanOf(node), text: `(${textOf(left)} ${other} ${textOf(right)})` }];
    }
    case 'UnaryExpression':
      return operator === '!' ? [{ ...spanOf(node), text: textOf(argument) }] : [];
    case 'IfStatement':
      return test === undefined ? [] : [{ ...spanOf(test), text: 'false' }];
    case 'ConditionalExpression':
      return test === undefined ? [] : ['true', 'false'].map((constant) => ({ ...spanOf(test), text: constant }));
    case 'CallExpression':
      return callChanges(node, text);
    case 'Property':
      return isNode(key) && isNode(value) ? recordsChange(key, value, text) : [];
    default:
      return [];
  }
}

function callChanges(node: Node, text: string): Change[] {
  const { object, property, computed } = node.callee ?? {};
  if (object === undefined || property === undefined || computed) return [];
  const other = OTHER_METHOD[property.name ?? ''];
  if (other !== undefined) return [{ ...spanOf(property), text: other }];
  return property.name === 'filter' ? [{ ...spanOf(node), text: text.slice(object.start, object.end) }] : [];
}

/** A step that forgets to write. */
function recordsChange(key: Node, value: Node, text: string): Change[] {
  const isWritten = key.name === 'records' && text.slice(value.start, value.end) !== '[]';
  return isWritten ? [{ ...spanOf(value), text: '[]' }] : [];
}

function spanOf({ start, end }: Node): Pick<Change, 'start' | 'end'> {
  return { start, end };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
