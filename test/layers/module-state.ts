/** Finds state at the top of a module: what one caller leaves there, the next one meets, and a seed no longer gives the same run. */
import { readFileSync } from 'node:fs';
import { type Expression, parseSync, type Statement, type TSType } from 'oxc-parser';

const COLLECTIONS: ReadonlySet<string> = new Set(['Array', 'Map', 'Set', 'WeakMap', 'WeakSet']);
const READ_ONLY: ReadonlySet<string> = new Set(['Readonly', 'ReadonlyArray', 'ReadonlyMap', 'ReadonlySet']);

/** The names of the variables that can change, or hold a collection that can; only constants and read-only types are left out. */
export function moduleState(path: string): readonly string[] {
  return parseSync(path, readFileSync(path, 'utf8')).program.body.flatMap(stateOf);
}

function stateOf(statement: Statement): readonly string[] {
  if (statement.type === 'ExportNamedDeclaration') {
    return statement.declaration === null ? [] : stateOf(statement.declaration as Statement);
  }
  if (statement.type !== 'VariableDeclaration' || statement.declare === true) return [];
  return statement.declarations
    .filter(({ id, init }) => {
      const type = id.typeAnnotation?.typeAnnotation;
      return statement.kind !== 'const' || (init !== null && isCollection(init) && !isReadOnly(type));
    })
    .map(({ id }) => (id.type === 'Identifier' ? id.name : 'a pattern'));
}

/** An empty array or object is there to be filled; one with contents is a table, which the compiler and reviews keep as it is. */
function isCollection(value: Expression): boolean {
  switch (value.type) {
    case 'ArrayExpression':
      return value.elements.length === 0;
    case 'ObjectExpression':
      return value.properties.length === 0;
    case 'NewExpression':
      return value.callee.type === 'Identifier' && COLLECTIONS.has(value.callee.name);
    default:
      return false;
  }
}

function isReadOnly(type: TSType | undefined): boolean {
  if (type?.type === 'TSTypeOperator') return type.operator === 'readonly';
  return type?.type === 'TSTypeReference' && type.typeName.type === 'Identifier' && READ_ONLY.has(type.typeName.name);
}
