#define NULL ((void *)0)
typedef unsigned long size_t;
