// Quotas: how rates are measured. The limits themselves are dynamic.

import { atLeast, className, int } from '@odradek/runtime';

export const quotaSettings = {
  'quota.window.num': int(11, { importance: 'LOW', valid: atLeast(1), doc: "How many samples a client's rate is measured over." }),
  'quota.window.size.seconds': int(1, { importance: 'LOW', valid: atLeast(1), doc: 'The length of one such sample, in seconds.' }),
  'replication.quota.window.num': int(11, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How many samples the rate of throttled replication is measured over.',
  }),
  'replication.quota.window.size.seconds': int(1, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'The length of one such sample, in seconds.',
  }),
  'alter.log.dirs.replication.quota.window.num': int(11, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How many samples the rate of moves between directories is measured over.',
  }),
  'alter.log.dirs.replication.quota.window.size.seconds': int(1, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'The length of one such sample, in seconds.',
  }),
  'controller.quota.window.num': int(11, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How many samples the rate of changes to topics and partitions is measured over.',
  }),
  'controller.quota.window.size.seconds': int(1, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'The length of one such sample, in seconds.',
  }),
  'client.quota.callback.class': className(null, {
    importance: 'LOW',
    doc: 'A Java class that decides quotas. Odradek runs no Java classes and refuses to start with one set.',
  }),
};
