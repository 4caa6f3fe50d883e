/* Exchanges with services that issue credentials, with libcurl: an exchange_function. */
#ifndef RECMAP_NET_EXCHANGE_RUN_H
#define RECMAP_NET_EXCHANGE_RUN_H

#include "credentials/exchange.h"

exchange_function exchange_run;

#endif
