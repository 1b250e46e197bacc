/* What start-up code and the board know of each other: main and the interrupts. */
#ifndef START_H
#define START_H

#define NO_RETURN __attribute__((noreturn))

NO_RETURN void reset_handler(void);
NO_RETURN void main(void);

void systick_handler(void);
void gate_handler(void);
void key_handler(void);
void stop_and_lane_handler(void);
void period_handler(void);
void line_handler(void);

#endif
